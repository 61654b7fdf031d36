import HummingbirdCore
import NIOCore

/// One HTTP/1 connection, for the task that answers its requests. Usually that task runs on the connection's event
/// loop, where nothing here waits for another thread.
struct Connection: Sendable {
    private let handler: NIOLoopBound<ConnectionHandler>
    private let eventLoop: any EventLoop

    /// Called on the connection's event loop.
    init(_ handler: ConnectionHandler, on eventLoop: any EventLoop) {
        self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
        self.eventLoop = eventLoop
    }

    /// Waits for the next request. The previous one must have been answered.
    func nextRequest() async -> ConnectionState.Next {
        if eventLoop.inEventLoop, let next = handler.value.nextRequest() { return next }
        return await withCheckedContinuation { waiter in run { $0.awaitRequest(waiter) } }
    }

    /// Waits for the next part of the body of the request that is being answered; nil at its end.
    /// - Parameter number: from ``ConnectionState/Body/streamed(_:)``.
    /// - Throws: `CancellationError`, or the reason why the rest never arrives.
    func nextBodyPart(of number: Int) async throws -> ByteBuffer? {
        if eventLoop.inEventLoop, let part = try handler.value.nextBodyPart(of: number) { return part }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in run { $0.awaitBodyPart(of: number, waiter) } }
        } onCancel: {
            run { $0.cancelBody(of: number) }
        }
    }

    /// Notes that the answer to the current request begins.
    /// - Returns: whether another request may follow.
    func beginAnswer() async -> Bool { await get { $0.beginAnswer() } }

    /// Makes the end of the connection a reset until ``finish()`` has sent everything.
    func resetUnlessFinished() { run { $0.resetUnlessFinished() } }

    func endAnswer(keepsAlive: Bool) async { await get { $0.endAnswer(keepsAlive: keepsAlive) } }

    /// Sends bytes as soon as the connection isn't full.
    /// - Throws: an error if the connection is closed, or the task that answers requests cancelled.
    func write(_ bytes: ByteBuffer, _ more: ByteBuffer? = nil) async throws {
        if !(eventLoop.inEventLoop && handler.value.isWritable) {
            try await withCheckedThrowingContinuation { writer in run { $0.awaitWritable(writer) } }
        }
        run { $0.write(bytes, more) }
    }

    /// Makes this the last request that is answered.
    func stop() { run { $0.stop() } }

    /// Closes the connection once everything is sent.
    func finish() { run { $0.finish() } }

    private func run(_ action: @escaping @Sendable (ConnectionHandler) -> Void) {
        if eventLoop.inEventLoop {
            action(handler.value)
        } else {
            eventLoop.execute { action(handler.value) }
        }
    }

    private func get<Value: Sendable>(_ value: @escaping @Sendable (ConnectionHandler) -> Value) async -> Value {
        if eventLoop.inEventLoop { return value(handler.value) }
        return await withCheckedContinuation { waiter in
            eventLoop.execute { waiter.resume(returning: value(handler.value)) }
        }
    }
}

/// The body of a request that hasn't arrived as a whole.
struct ConnectionBody: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let connection: Connection
    /// The request's number on its connection.
    let number: Int

    func next() async throws -> ByteBuffer? { try await connection.nextBodyPart(of: number) }

    func makeAsyncIterator() -> ConnectionBody { self }
}
