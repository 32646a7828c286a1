#include "machine/tensor_map.hpp"
#include "findings/words/words.hpp"

namespace emu {

std::optional<std::string> encode_tensor_map(const TensorMap& map,
                                             std::span<std::byte, tensor_map_bytes> out) {
    if (const auto flaw = tensor_map_error(map))
        return put_into_words(*flaw);
    write_tensor_map(map, out);
    return std::nullopt;
}

} // namespace emu
