internal import Foundation
internal import NIOCore
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession
internal import TomboloWebSocket

/// A snapshot of one session for the inspector.
struct SessionReport: Sendable {
    let number: UInt64
    /// The device's id, or 0 before it said hello.
    let client: ClientID
    /// Nil before the device is authenticated.
    let user: String?
    /// Empty if there is none.
    let address: String
    let connectedFor: Duration
    let generation: Int?
    let session: ServerSession.Report
    /// Everything that concerns the device up to this tick was sent to it.
    let reached: Tick
    /// Bytes that were written but that the network hasn't taken yet.
    let pendingByteCount: Int
    /// Bytes of a batch that was read for the device but that it hasn't taken yet.
    let spooledByteCount: Int
    let isReading: Bool
    /// Bytes of uploads that wait or are being applied.
    let uploadByteCount: Int
}

extension SessionRunner {
    /// Describes the session without changing anything.
    func inspect() async -> SessionReport {
        let spooled = await spool?.heldByteCount ?? 0
        let report = session.report
        var reached = report.tick
        if session.isFollowed, let position, position.tick.number > reached.number { reached = position.tick }
        return SessionReport(
            number: number, client: session.clientID, user: authority?.user, address: address,
            connectedFor: .nanoseconds((NIODeadline.now() - connectedAt).nanoseconds),
            generation: seat?.generation.number, session: report, reached: reached,
            pendingByteCount: socket.pendingByteCount, spooledByteCount: spooled, isReading: reading != nil,
            uploadByteCount: waitingUploadByteCount + uploadingByteCount)
    }

    /// What it takes to answer a question about one object. All of it is values, so that answering doesn't block the
    /// event loop.
    func inspectSight() async -> (report: SessionReport, session: ServerSession, generation: Generation?) {
        (await inspect(), session, seat?.generation)
    }
}
