/// \file
/// CUDA driver: linking of modules at run time (cuLink…). What comes out of the linker is PTX again, which
/// cuModuleLoadData takes like any other.

#include "cuda/owner.hpp"
#include "cuda/registry.hpp"
#include "cuda/state.hpp"
#include "images/fatbin.hpp"

#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>

using namespace emu::cuda;

namespace {

/// CUjitInputType of cuda.h.
enum JitInput { input_cubin = 0, input_ptx = 1, input_fatbin = 2 };

struct Linker {
    std::vector<std::string> texts;
    std::string linked; ///< Handed out by cuLinkComplete; lives as long as the handle.
};

class Linkers {
  public:
    static Linkers& get() { return the<Linkers>(); }
    Linker* create() {
        auto linker = std::make_unique<Linker>();
        Linker* const raw = linker.get();
        const std::lock_guard lock(mutex_);
        live_[raw] = std::move(linker);
        return raw;
    }
    Linker& at(void* handle) {
        const std::lock_guard lock(mutex_);
        const auto found = live_.find(handle);
        if (found == live_.end())
            throw ApiError(Error::invalid_handle);
        return *found->second;
    }
    void destroy(void* handle) {
        const std::lock_guard lock(mutex_);
        if (live_.erase(handle) == 0)
            throw ApiError(Error::invalid_handle);
    }

  private:
    std::mutex mutex_;
    std::map<const void*, std::unique_ptr<Linker>> live_;
};

Error add_text(Linker& linker, int type, const std::byte* data, std::size_t size) {
    if (type == input_ptx) {
        std::string text(reinterpret_cast<const char*>(data), size);
        text.resize(std::min(text.size(), text.find('\0')));
        linker.texts.push_back(std::move(text));
        return Error::success;
    }
    if (type != input_fatbin)
        throw ApiError(
            Error::no_kernel_image,
            "the linker got machine code or a library; the emulator links PTX and fat binaries with PTX");
    const auto entries = read_fatbin({data, size});
    const FatbinEntry* const chosen = choose_ptx(entries);
    if (!chosen)
        throw ApiError(Error::no_kernel_image, explain_missing_ptx(entries));
    linker.texts.push_back(unpack(*chosen));
    return Error::success;
}

} // namespace

extern "C" {

Error cuLinkCreate_v2(unsigned, int*, void**, void** state) {
    return context_call(__func__, [&](State&) {
        if (!state)
            return Error::invalid_value;
        *state = Linkers::get().create();
        return Error::success;
    });
}

Error cuLinkAddData_v2(void* state, int type, void* data, std::size_t size, const char*, unsigned, int*,
                       void**) {
    return context_call(__func__, [&](State&) {
        if (!data || size == 0)
            return Error::invalid_value;
        return add_text(Linkers::get().at(state), type, static_cast<const std::byte*>(data), size);
    });
}

Error cuLinkAddFile_v2(void* state, int type, const char* path, unsigned, int*, void**) {
    return context_call(__func__, [&](State&) {
        if (!path)
            return Error::invalid_value;
        std::ifstream in(path, std::ios::binary);
        if (!in)
            throw ApiError(Error::file_not_found, std::string("the file ") + path + " cannot be opened");
        std::ostringstream bytes;
        bytes << in.rdbuf();
        const std::string content = std::move(bytes).str();
        return add_text(Linkers::get().at(state), type, reinterpret_cast<const std::byte*>(content.data()),
                        content.size());
    });
}

Error cuLinkComplete(void* state, void** image, std::size_t* size) {
    return context_call(__func__, [&](State&) {
        Linker& linker = Linkers::get().at(state);
        if (!image || linker.texts.empty())
            return Error::invalid_value;
        try {
            linker.linked = linker.texts.size() == 1 ? linker.texts.front() : emu::link_ptx(linker.texts);
        } catch (const std::runtime_error& error) {
            throw ApiError(Error::invalid_ptx, error.what());
        }
        *image = linker.linked.data();
        if (size)
            *size = linker.linked.size() + 1;
        return Error::success;
    });
}

Error cuLinkDestroy(void* state) {
    return context_call(__func__, [&](State&) {
        Linkers::get().destroy(state);
        return Error::success;
    });
}

} // extern "C"
