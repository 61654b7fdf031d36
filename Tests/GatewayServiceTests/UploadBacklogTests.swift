import Synchronization
import Testing

@testable import GatewayService

@Suite struct UploadBacklogTests {
    private let most = UploadBacklog.maximum.ended
    private let all = UploadBacklog.maximum.inAll
    private let start = ContinuousClock.now

    @Test("uploads wait while much is not told, and go on when the feed has told enough")
    func filling() {
        let backlog = UploadBacklog(now: { [start] in start })
        backlog.begin(most)
        #expect(!backlog.isFull)
        backlog.end(most)
        #expect(backlog.isFull)
        #expect(backlog.tell(backlog.mark))
        #expect(!backlog.isFull)
        #expect(!backlog.tell(backlog.mark), "Nobody waited.")
    }

    @Test("what is under way, or ended after the feed looked, stays to be told")
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

    @Test("a feed that says nothing stops uploads for a moment only")
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
