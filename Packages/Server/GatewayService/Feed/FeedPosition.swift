internal import NIOCore
internal import TomboloChangesets

/// How far a feed has told the sessions of one event loop: all that concerns them up to a tick. Belongs to the event loop.
final class FeedPosition: Sendable {
    private let loop: any EventLoop
    private let box: NIOLoopBoundBox<Tick>

    init(on loop: any EventLoop) {
        self.loop = loop
        box = .makeBoxSendingValue(.origin, eventLoop: loop)
    }

    /// Runs on the event loop, after all that was given to it before.
    func execute(_ body: @escaping @Sendable () -> Void) { loop.execute(body) }

    var tick: Tick {
        get { box.value }
        set { box.value = newValue }
    }
}
