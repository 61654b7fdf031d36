import Testing

@testable import TomboloHTTP

@Suite struct RequestQueueTests {
    private static func entry(_ number: Int) -> RequestLog.Entry {
        RequestLog.Entry(
            time: Int64(number), method: "GET", route: "/panel", status: 200, duration: .milliseconds(3), userID: nil,
            address: "192.0.2.1", requestID: "\(number)")
    }

    @Test("requests are taken in order of arrival, once each")
    func order() {
        var queue = RequestQueue(capacity: 10)
        for number in 0..<5 { queue.append(Self.entry(number)) }
        #expect(queue.take(2).map(\.time) == [0, 1])
        queue.append(Self.entry(5))
        #expect(queue.take(3).map(\.time) == [2, 3, 4])
        #expect(queue.take(3).map(\.time) == [5])
        #expect(queue.take(3).isEmpty && queue.droppedCount == 0)
    }

    @Test("a full queue accepts no more, counts what it drops, and accepts requests again once there's room")
    func bounds() {
        var queue = RequestQueue(capacity: 3)
        for number in 0..<8 { queue.append(Self.entry(number)) }
        #expect(queue.droppedCount == 5)
        #expect(queue.take(1).map(\.time) == [0])
        queue.append(Self.entry(8))
        queue.append(Self.entry(9))
        #expect(queue.take(10).map(\.time) == [1, 2, 8] && queue.droppedCount == 6)
        queue.giveUp(3)
        #expect(queue.droppedCount == 9)
    }

    @Test("a queue without a consumer keeps nothing and counts nothing")
    func without() {
        var queue = RequestQueue(capacity: 0)
        for number in 0..<8 { queue.append(Self.entry(number)) }
        #expect(queue.take(10).isEmpty && queue.droppedCount == 0)
    }

    @Test("a log queues the requests that it keeps, and keeps all of them even while the queue is full")
    func log() {
        let log = RequestLog(queueCapacity: 2)
        for number in 0..<5 { log.add(Self.entry(number)) }
        #expect(log.entries(.all).map(\.time) == [4, 3, 2, 1, 0])
        #expect(log.droppedCount == 3 && log.takeQueued(10).map(\.time) == [0, 1])
        let other = RequestLog()
        other.add(Self.entry(0))
        #expect(other.droppedCount == 0 && other.takeQueued(10).isEmpty)
    }
}
