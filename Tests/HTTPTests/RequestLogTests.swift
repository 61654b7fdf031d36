import Testing
import TomboloModel

@testable import TomboloHTTP

@Suite struct RequestLogTests {
    private static func entry(
        _ number: Int, status: Int = 200, took: Duration = .milliseconds(3), minute: Int64 = 1_000
    ) -> RequestLog.Entry {
        RequestLog.Entry(
            time: minute * 60_000_000 + Int64(number), method: "GET", route: "/panel", status: status, duration: took,
            userID: nil, address: "192.0.2.1", requestID: "\(number)")
    }

    @Test("the last requests are kept, and slow or failed ones outlast them")
    func bounds() {
        let log = RequestLog()
        log.add(Self.entry(0, status: 503))
        log.add(Self.entry(1, took: .seconds(2)))
        for number in 2..<(RequestLog.maximumCount + 500) { log.add(Self.entry(number)) }
        let all = log.entries(.all)
        #expect(all.count == RequestLog.maximumCount)
        #expect(all.first?.requestID == "\(RequestLog.maximumCount + 499)" && all.last?.requestID == "500")
        #expect(log.entries(.failed).map(\.requestID) == ["0"] && log.entries(.slow).map(\.requestID) == ["1"])
        #expect(log.entries(.refused).isEmpty)
        for number in 0..<1_000 { log.add(Self.entry(number, status: 500, took: .seconds(1))) }
        for kind in [RequestLog.Kind.slow, .failed] {
            #expect(log.entries(kind).count == RequestLog.maximumNotableCount)
            #expect(log.entries(kind).first?.requestID == "999")
        }
    }

    @Test("minutes are counted for an hour, including those without requests")
    func minutes() {
        let log = RequestLog()
        for number in 0..<5 { log.add(Self.entry(number)) }
        log.add(Self.entry(5, status: 404))
        log.add(Self.entry(6, status: 500))
        log.add(Self.entry(7, minute: 1_002))
        let minutes = log.minutes(now: 1_003 * 60_000_000)
        #expect(minutes.count == RequestLog.minuteCount && minutes.last?.number == 1_003)
        #expect(minutes.map(\.requests).reduce(0, +) == 8)
        let first = minutes.first { $0.number == 1_000 }
        #expect(log.entries(.refused).map(\.requestID) == ["5"])
        #expect(first?.requests == 7 && first?.refused == 1 && first?.failed == 1)
        // An hour later they are gone, and a request logged after the clock was set back does no harm.
        #expect(log.minutes(now: 1_063 * 60_000_000).allSatisfy { $0.requests == 0 })
        log.add(Self.entry(8, minute: 1_060))
        log.add(Self.entry(9, minute: 1_000))
        #expect(log.minutes(now: 1_061 * 60_000_000).map(\.requests).reduce(0, +) == 2)
    }

    @Test("a method may be any text, and is truncated")
    func method() {
        #expect(RequestLog.method("GET") == "GET")
        #expect(RequestLog.method(String(repeating: "X", count: 1_000)).utf8.count <= 20)
    }
}
