#if os(Linux)
    import CLibPQ
    import Foundation

    /// A ``PostgresSelector`` on Linux's epoll (epoll(7)), in which arming a socket doesn't wake the waiting thread.
    package final class PostgresEpollSelector: PostgresSelector {
        private let epoll: Int32

        package init() throws {
            epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
            guard epoll >= 0 else { throw PostgresError(system: "epoll_create1") }
        }

        deinit { close(epoll) }

        package func arm(_ socket: Int32, id: UInt64, toWrite: Bool) throws {
            var events = EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLONESHOT.rawValue
            if toWrite { events |= EPOLLOUT.rawValue }
            var event = epoll_event(events: events, data: epoll_data_t(u64: id))
            if epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event) == 0 { return }
            // The socket is armed for the first time.
            guard errno == ENOENT, epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) == 0 else {
                throw PostgresError(system: "epoll_ctl")
            }
        }

        package func forget(_ socket: Int32, id: UInt64) {
            var unused = epoll_event()
            _ = epoll_ctl(epoll, EPOLL_CTL_DEL, socket, &unused)
        }

        package func wait() -> [UInt64] {
            withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: PostgresReactor.eventLimit) { events in
                // A signal ends the wait early, with -1.
                let count = Int(epoll_wait(epoll, events.baseAddress, Int32(events.count), -1))
                return (0..<max(0, count)).map { events[$0].data.u64 }
            }
        }
    }
#endif
