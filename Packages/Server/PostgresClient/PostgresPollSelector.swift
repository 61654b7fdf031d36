import Foundation

/// A ``PostgresSelector`` on poll(2), which every system has. Arming a socket wakes the waiting thread through a pipe.
package final class PostgresPollSelector: PostgresSelector {
    private struct Armed {
        let socket: Int32
        let events: Int16
    }

    private let armed = Locked<[UInt64: Armed]>([:])
    private let wakeRead: Int32
    private let wakeWrite: Int32

    package init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw PostgresError(system: "pipe") }
        (wakeRead, wakeWrite) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        close(wakeRead)
        close(wakeWrite)
    }

    package func arm(_ socket: Int32, id: UInt64, toWrite: Bool) throws {
        armed.withLock { $0[id] = Armed(socket: socket, events: Int16(POLLIN | (toWrite ? POLLOUT : 0))) }
        wake()
    }

    package func forget(_ socket: Int32, id: UInt64) {
        if armed.withLock({ $0.removeValue(forKey: id) }) != nil { wake() }
    }

    /// If the pipe is full, the thread wakes anyway, so a failed write doesn't matter.
    private func wake() {
        var byte: UInt8 = 1
        _ = write(wakeWrite, &byte, 1)
    }

    package func wait() -> [UInt64] {
        let known = armed.withLock { Array($0) }
        var descriptors = [pollfd(fd: wakeRead, events: Int16(POLLIN), revents: 0)]
        descriptors += known.map { pollfd(fd: $0.value.socket, events: $0.value.events, revents: 0) }
        guard poll(&descriptors, nfds_t(descriptors.count), -1) > 0 else { return [] }
        if descriptors[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(wakeRead, &bytes, bytes.count) > 0 {}
        }
        let ready = zip(known, descriptors.dropFirst()).filter { $1.revents != 0 }.map(\.0.key)
            .prefix(PostgresReactor.eventLimit)
        // A socket that was armed again meanwhile is reported too early, which its connection tolerates.
        armed.withLock { for id in ready { $0[id] = nil } }
        return Array(ready)
    }
}
