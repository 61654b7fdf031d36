internal import NIOCore
internal import TomboloChangesets

/// The tick up to which a feed has told the sessions of one event loop everything that concerns them. Belongs to the
/// event loop.
final class FeedPosition: Sendable {
    private let loop: any EventLoop
    private let box: NIOLoopBoundBox<Tick>

    init(on loop: any EventLoop) {
        self.loop = loop
        box = .makeBoxSendingValue(.origin, eventLoop: loop)
    }

    /// Runs `body` on the event loop, after everything that was submitted to it before.
    func execute(_ body: @escaping @Sendable () -> Void) { loop.execute(body) }

    var tick: Tick {
        get { box.value }
        set { box.value = newValue }
    }
}
