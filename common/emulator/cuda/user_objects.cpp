#include "cuda/user_objects.hpp"

#include "cuda/owner.hpp"
#include "cuda/state.hpp"

#include <utility>

namespace emu::cuda {

UserObjects& UserObjects::get() { return the<UserObjects>(); }

UserObject* UserObjects::create(void* data, abi::HostFunction destroy, unsigned references) {
    auto made = std::make_unique<UserObject>(UserObject{data, destroy, references});
    const std::lock_guard lock(mutex_);
    UserObject* const raw = made.get();
    live_[raw] = std::move(made);
    return raw;
}

void UserObjects::retain(const void* object, std::uint64_t count) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(object);
    if (found == live_.end() || count == 0)
        throw ApiError(Error::invalid_value);
    found->second->references += count;
}

void UserObjects::release(const void* object, std::uint64_t count) {
    std::unique_ptr<UserObject> last;
    {
        const std::lock_guard lock(mutex_);
        const auto found = live_.find(object);
        if (found == live_.end() || count == 0 || found->second->references < count)
            throw ApiError(Error::invalid_value);
        found->second->references -= count;
        if (found->second->references > 0)
            return;
        last = std::move(found->second);
        live_.erase(found);
    }
    // At the end of the process what the function refers to may be gone.
    if (State::existing())
        last->destroy(last->data);
}

ObjectReferences::ObjectReferences(const ObjectReferences& other) : held_(other.held_) {
    for (const auto& [object, count] : held_)
        UserObjects::get().retain(object, count);
}

ObjectReferences& ObjectReferences::operator=(const ObjectReferences& other) {
    ObjectReferences copy(other);
    std::swap(held_, copy.held_);
    return *this;
}

ObjectReferences::~ObjectReferences() { drop(); }

void ObjectReferences::release(const void* object, std::uint64_t count) {
    const auto found = held_.find(object);
    if (found == held_.end() || count == 0 || found->second < count)
        throw ApiError(Error::invalid_value);
    found->second -= count;
    if (found->second == 0)
        held_.erase(found);
    UserObjects::get().release(object, count);
}

void ObjectReferences::drop() noexcept {
    for (const auto& [object, count] : held_)
        try {
            UserObjects::get().release(object, count);
        } catch (...) {
            // The program released more than it held; there is nobody to tell.
            continue;
        }
    held_.clear();
}

} // namespace emu::cuda
