// cp.async.bulk.wait_group.read speaks of the source of a bulk store.

#include "rules/check_support.hpp"

using namespace check_test;

namespace {

/// Two blocks: thread 0 of block 1 stores the tile and raises a flag; block 0 waits for it and reads.
Case to_another_block(const std::string& wait) {
    return {
        tile,
        addresses(64) +
            "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 1;\n@!%p1 bra READ;\n"
            "st.shared.u32 [%r10], %r6;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n@%p0 " +
            bulk_store + "//!\n@%p0 cp.async.bulk.commit_group;\n@%p0 cp.async.bulk." + wait +
            " 0;//!\nfence.acq_rel.gpu;\nmov.u32 %r2, 1;\n@%p0 st.release.gpu.global.u32 [%rd1+4096], %r2;\n"
            "bra DONE;\nREAD:\nld.acquire.gpu.global.u32 %r3, [%rd1+4096];\nsetp.eq.u32 %p2, %r3, 0;\n"
            "@%p2 bra READ;\nld.global.u32 %r5, [%rd11];//!\nst.global.u32 [%rd11+8192], %r5;\nDONE:\n",
        64, 2};
}

} // namespace

TEST_CASE("race-global: wait_group.read, and another block reads what the store writes") {
    require_silent(to_another_block("wait_group"));
    require_found("race-global", to_another_block("wait_group.read"));
    const emu::LaunchOutcome outcome =
        run(to_another_block("wait_group.read"), {emu::CompletionOrder::late, 1});
    const emu::Diagnostic& d = outcome.result.diagnostics.front();
    REQUIRE(d.message.find("wait_group.read speaks of the source only") != std::string::npos);
    REQUIRE(d.advice.find("wait_group without .read") != std::string::npos);
}

TEST_CASE("in the same block a __threadfence() behind wait_group.read counts, but not in strict checks") {
    const std::string store =
        addresses(64) + "st.shared.u32 [%r10], %r6;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n@%p0 " +
        bulk_store + "\n" + commit_and_wait_read;
    const std::string read =
        "bar.sync 0;\nld.global.u32 %r5, [%rd11];\nsetp.ne.u32 %p1, %r5, %r6;\n@%p1 trap;\n";
    Case fenced{tile, store + "fence.acq_rel.gpu;\n" + read};
    require_silent(fenced);
    fenced.strict = true;
    const emu::LaunchOutcome outcome = run(fenced, {emu::CompletionOrder::late, 1});
    REQUIRE(outcome.result.diagnostics.size() == 1);
    REQUIRE(outcome.result.diagnostics.front().note);
    // The fence stands before the store: it says nothing of it.
    const auto wrong = run({tile, "fence.acq_rel.gpu;\n" + store + read}, {emu::CompletionOrder::late, 1});
    REQUIRE_FALSE(wrong.result.diagnostics.empty());
    REQUIRE(wrong.result.diagnostics.front().name() == "read-before-completion");
    REQUIRE(wrong.result.diagnostics.front().message.find("speaks of the source only") != std::string::npos);
}

TEST_CASE("a source is used again behind wait_group.read") {
    require_silent(
        {tile, addresses(64) +
                   "st.shared.u32 [%r10], %r6;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n@%p0 " +
                   bulk_store + "\n" + commit_and_wait_read + "bar.sync 0;\nst.shared.u32 [%r10], %r0;\n"});
}
