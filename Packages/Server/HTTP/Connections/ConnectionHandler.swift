import NIOCore
import NIOHTTP1

/// Connects a channel, whose requests are already decoded, with the task that answers them. Everything in it happens on
/// the channel's event loop; ``Connection`` gets there from anywhere.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How long a connection that the server wants to close stays open for what the client is still sending.
    static let lingerTimeout = TimeAmount.seconds(5)

    private let idleTimeout: TimeAmount
    private var state = ConnectionState()
    /// Nil before the handler is in a pipeline, and after it left it.
    private var context: ChannelHandlerContext?
    /// Whether the channel wants to read, and there is no room.
    private var holdsRead = false
    /// Whether the task that answers requests is being cancelled.
    private var isStopped = false
    /// The number of the last request whose body nobody waits for any more.
    private var cancelledBody: Int?
    /// Whether everything is sent, and the connection only stays open until its client has ended its side.
    private var isLingering = false
    /// Whether the system resets the connection if it's closed.
    private var resets = false
    private var lastActivity = NIODeadline.now()
    /// How much of the last answer waited for the client when this was last looked at, in bytes.
    private var unsentByteCount = 0
    private var timer: Scheduled<Void>?

    private var requestWaiter: CheckedContinuation<ConnectionState.Next, Never>?
    private var bodyWaiter: (number: Int, waiter: CheckedContinuation<ByteBuffer?, any Error>)?
    private var writers: [CheckedContinuation<Void, any Error>] = []

    /// - Parameter idleTimeout: how long a connection stays open while its client owes it something.
    init(idleTimeout: TimeAmount) { self.idleTimeout = idleTimeout }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        setTimer(idleTimeout)
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastActivity = .now()
        state.receive(unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) { advance() }

    func read(context: ChannelHandlerContext) {
        if state.wantsMore { context.read() } else { holdsRead = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            resumeWriters(.success(()))
            advance()
        }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is HTTPParserError: endInput(error)
        // More came after what isn't HTTP.
        case is ByteToMessageDecoderError: break
        default: context.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed: endInput()
        case is ChannelShouldQuiesceEvent:
            state.quiesce()
            advance()
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func endInput(_ error: (any Error)? = nil) {
        state.endInput(error)
        if isLingering { context?.close(promise: nil) }
        advance()
    }

    private func leave() {
        context = nil
        timer?.cancel()
        state.endInput()
        advance()
        resumeWriters(.failure(ChannelError.ioOnClosedChannel))
    }

    // MARK: Requests

    /// - Returns: nil if the task has to wait.
    func nextRequest() -> ConnectionState.Next? {
        guard !isStopped, let context else { return .close }
        // A client that doesn't read its answers gets no further ones.
        guard context.channel.isWritable else { return nil }
        let next = state.takeRequest()
        if case .wait = next { return nil }
        readOn()
        return next
    }

    func awaitRequest(_ waiter: CheckedContinuation<ConnectionState.Next, Never>) {
        requestWaiter = waiter
        advance()
    }

    /// Ends the connection after the request that is being answered, and fails what waits for the client meanwhile.
    func stop() {
        isStopped = true
        advance()
        resumeWriters(.failure(CancellationError()))
    }

    /// The next part of the body of the request that is being answered.
    /// - Returns: nil if the task has to wait. The inner nil is the body's end.
    func nextBodyPart(of number: Int) throws -> ByteBuffer?? {
        guard !isStopped, cancelledBody != number else { throw CancellationError() }
        switch state.takeBodyPart(of: number) {
        case .bytes(let bytes):
            readOn()
            return bytes
        case .end:
            readOn()
            return .some(nil)
        case .wait(let sendsContinue):
            if sendsContinue { write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")) }
            return nil
        case .missing(let error): throw error
        }
    }

    func awaitBodyPart(of number: Int, _ waiter: CheckedContinuation<ByteBuffer?, any Error>) {
        // Only one task reads a body at a time.
        bodyWaiter?.waiter.resume(throwing: CancellationError())
        bodyWaiter = (number, waiter)
        advanceBody()
    }

    /// Ends the wait for a body. It may come late, when the next request's body is being read already.
    func cancelBody(of number: Int) {
        cancelledBody = number
        advanceBody()
    }

    /// Resumes what can go on. Reading may fail and close the connection, which leads here again; so a waiter is taken
    /// out before anything is read for it.
    private func advance() {
        advanceBody()
        guard let waiter = requestWaiter else { return }
        requestWaiter = nil
        if let next = nextRequest() { waiter.resume(returning: next) } else { requestWaiter = waiter }
    }

    private func advanceBody() {
        guard let (number, waiter) = bodyWaiter else { return }
        bodyWaiter = nil
        do {
            if let part = try nextBodyPart(of: number) {
                waiter.resume(returning: part)
            } else {
                bodyWaiter = (number, waiter)
            }
        } catch {
            waiter.resume(throwing: error)
        }
    }

    private func readOn() {
        guard holdsRead, state.wantsMore else { return }
        holdsRead = false
        context?.read()
    }

    // MARK: Answers

    func beginAnswer() -> Bool { state.beginAnswer() }

    func endAnswer(keepsAlive: Bool) {
        lastActivity = .now()
        unsentByteCount = waitingByteCount
        state.endAnswer(keepsAlive: keepsAlive)
        readOn()
    }

    var isWritable: Bool { context?.channel.isWritable ?? false }

    func awaitWritable(_ writer: CheckedContinuation<Void, any Error>) {
        guard let context else { return writer.resume(throwing: ChannelError.ioOnClosedChannel) }
        guard !isStopped else { return writer.resume(throwing: CancellationError()) }
        if context.channel.isWritable { writer.resume() } else { writers.append(writer) }
    }

    private func resumeWriters(_ result: Result<Void, any Error>) {
        let waiting = writers
        writers = []
        for writer in waiting { writer.resume(with: result) }
    }

    /// Makes the end of the connection a reset until ``finish()`` has sent everything, whatever closes it, and even if
    /// the process ends.
    func resetUnlessFinished() { setResets(true) }

    private func setResets(_ resets: Bool) {
        guard resets != self.resets, let channel = context?.channel as? any SocketOptionProvider else { return }
        self.resets = resets
        _ = channel.unsafeSetSocketOption(level: .socket, name: .so_linger, value: Linger(isOn: resets ? 1 : 0))
    }

    /// The system's `linger`. With no time to send the rest, closing resets the connection.
    private struct Linger: Sendable {
        let isOn: CInt
        let seconds: CInt = 0
    }

    /// Sends bytes. Does nothing if the connection is closed.
    func write(_ bytes: ByteBuffer, _ more: ByteBuffer? = nil) {
        guard let context else { return }
        context.write(wrapOutboundOut(bytes), promise: nil)
        if let more { context.write(wrapOutboundOut(more), promise: nil) }
        context.flush()
    }

    // MARK: Closing

    /// Closes the connection as soon as everything is sent. If the client is still sending, it gets
    /// ``lingerTimeout`` to finish and to read its answer: closing at once would reset the connection.
    func finish() {
        guard let context else { return }
        state.close()
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        // Completes after everything that was written before.
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { _ in handler.value.linger() }
    }

    private func linger() {
        guard let context else { return }
        setResets(false)
        guard !state.hasReadEverything else { return context.close(promise: nil) }
        isLingering = true
        holdsRead = false
        context.close(mode: .output, promise: nil)
        context.read()
        let channel = context.channel
        timer?.cancel()
        timer = context.eventLoop.scheduleTask(in: Self.lingerTimeout) { channel.close(promise: nil) }
    }

    private func setTimer(_ time: TimeAmount) {
        guard let context else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: time) { handler.value.closeIfIdle() }
    }

    private func closeIfIdle() {
        guard let context else { return }
        guard state.waitsForClient else { return setTimer(idleTimeout) }
        let idle = NIODeadline.now() - lastActivity
        guard idle >= idleTimeout else { return setTimer(idleTimeout - idle) }
        // A client that takes the end of its answer slowly isn't idle, as long as it takes half of the rest in this time.
        let rest = waitingByteCount
        guard rest > 0, rest <= unsentByteCount / 2 else { return context.close(promise: nil) }
        unsentByteCount = rest
        setTimer(idleTimeout)
    }

    private var waitingByteCount: Int {
        (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}
