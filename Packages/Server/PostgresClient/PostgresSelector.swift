/// Tells one thread which of many sockets can be read or written. A socket is reported once for each time it's armed.
///
/// ``arm(_:id:toWrite:)`` and ``forget(_:id:)`` may be called from any thread, also while another waits.
package protocol PostgresSelector: Sendable {
    /// Reports the socket once, as soon as it can be read, has failed or, with `toWrite`, can be written.
    /// - Parameter id: what it's reported under.
    /// - Throws: ``PostgresError`` if the system refuses.
    func arm(_ socket: Int32, id: UInt64, toWrite: Bool) throws
    /// Reports the socket no more. Called before it's closed.
    func forget(_ socket: Int32, id: UInt64)
    /// Waits until at least one socket is ready. Only the reactor's thread calls it.
    /// - Returns: their ids, at most ``PostgresReactor/eventLimit``. One may have been forgotten meanwhile.
    func wait() -> [UInt64]
}
