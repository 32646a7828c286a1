#pragma once
/// \file
/// What the clusters of a launch share: shadow memory, records, and what a rule keeps for longer than a
/// cluster.

#include "happens_before/flag_log.hpp"
#include "happens_before/records.hpp"
#include "happens_before/shadow.hpp"
#include "happens_before/threads.hpp"
#include "hopper_emulator/memory.hpp"

#include <memory>
#include <mutex>
#include <typeindex>
#include <unordered_map>
#include <vector>

namespace emu::check {

/// Objects of any types, one of each, made when they are first asked for. May be used by several host
/// threads.
class Shelf {
  public:
    /// `make()` gives a std::shared_ptr<T>.
    template <class T, class Make>
    T& get(Make&& make) {
        const std::lock_guard lock(mutex_);
        std::shared_ptr<void>& found = objects_[typeid(T)];
        if (!found)
            found = std::shared_ptr<T>(make());
        return *static_cast<T*>(found.get());
    }

  private:
    std::mutex mutex_;
    std::unordered_map<std::type_index, std::shared_ptr<void>> objects_;
};

/// What launches of one device leave to later ones.
class DeviceState {
  public:
    /// Something kept by a device that wants to know when no kernel runs.
    class Kept {
      public:
        virtual ~Kept() = default;
        virtual void end_launches() = 0;
    };
    /// The device's only T, a Kept.
    template <class T>
    T& get() {
        return shelf_.get<T>([this] {
            auto made = std::make_shared<T>();
            kept_.push_back(made);
            return made;
        });
    }
    /// No kernel runs.
    void end_launches() {
        for (const auto& each : kept_)
            each->end_launches();
    }

  private:
    Shelf shelf_;
    std::vector<std::shared_ptr<Kept>> kept_;
};

struct LaunchState {
    explicit LaunchState(DeviceState& of_device);
    ~LaunchState();

    DeviceState& device;
    RecordStore records; ///< Of accesses to global memory.
    GlobalShadow shadow;
    GlobalSync sync;
    FlagLog flags;
    Shelf shelf; ///< What rules share among the launch's clusters.

    /// A store for accesses to shared memory, perhaps of a cluster that has ended.
    std::unique_ptr<RecordStore> take_store();
    void give_back(std::unique_ptr<RecordStore> store);
    /// The launch has ended: what it wrote is known to be written.
    void note_written(GlobalMemory& memory) const;

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<RecordStore>> spare_;
};

} // namespace emu::check
