/// Tells one thread which of many sockets can be read or written. A socket is reported once each time it's armed.
///
/// ``arm(_:id:toWrite:)`` and ``forget(_:id:)`` may be called from any thread, even while another thread waits.
package protocol PostgresSelector: Sendable {
    /// Reports the socket once, as soon as it can be read, has failed or, with `toWrite`, can be written.
    /// - Parameter id: the id to report it under.
    /// - Throws: ``PostgresError`` if the system refuses.
    func arm(_ socket: Int32, id: UInt64, toWrite: Bool) throws
    /// Stops reporting the socket. Called before the socket is closed.
    func forget(_ socket: Int32, id: UInt64)
    /// Waits until at least one socket is ready. Only the reactor's thread calls it.
    /// - Returns: the ids of the ready sockets, at most ``PostgresReactor/eventLimit``. One of them may have been
    ///   forgotten meanwhile.
    func wait() -> [UInt64]
}
