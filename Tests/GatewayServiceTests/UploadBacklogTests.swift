import Synchronization
import Testing

@testable import GatewayService

@Suite struct UploadBacklogTests {
    private let most = UploadBacklog.maximum.ended
    private let all = UploadBacklog.maximum.inAll
    private let start = ContinuousClock.now

    @Test("uploads wait while the feed has many outcomes to report, and continue once it has reported enough")
    func filling() {
        let backlog = UploadBacklog(now: { [start] in start })
        backlog.begin(most)
        #expect(!backlog.isFull)
        backlog.end(most)
        #expect(backlog.isFull)
        #expect(backlog.tell(backlog.mark))
        #expect(!backlog.isFull)
        #expect(!backlog.tell(backlog.mark), "Nobody was waiting.")
    }

    @Test("uploads that are in progress, or that ended after the feed looked, remain to be reported")
    func later() {
        let backlog = UploadBacklog(now: { [start] in start })
        backlog.begin(all)
        #expect(!backlog.tell(backlog.mark))
        #expect(backlog.isFull)
        let mark = backlog.mark
        backlog.end(all)
        #expect(!backlog.tell(mark))
        #expect(backlog.isFull)
        #expect(backlog.tell(backlog.mark))
    }

    @Test("a feed that reports nothing stops uploads only for a moment")
    func patience() {
        let time = Mutex(ContinuousClock.now)
        let backlog = UploadBacklog(now: { time.withLock { $0 } })
        time.withLock { $0 += .seconds(3_600) }
        backlog.begin(most)
        backlog.end(most)
        #expect(backlog.isFull)
        time.withLock { $0 += UploadBacklog.patience }
        #expect(!backlog.isFull)
        backlog.begin(most)
        backlog.end(most)
        #expect(backlog.isFull)
    }
}
