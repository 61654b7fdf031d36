internal import Foundation
internal import NIOCore
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession
internal import TomboloWebSocket

/// What the inspector says of one session: a moment of it.
struct SessionReport: Sendable {
    let number: UInt64
    /// The device; 0 before it said hello.
    let client: ClientID
    /// Nil before the device is let in.
    let user: String?
    /// Empty if there is none.
    let address: String
    let connectedFor: Duration
    let generation: Int?
    let session: ServerSession.Report
    /// All that concerns the device up to this tick was sent to it.
    let reached: Tick
    /// Written, and not taken by the network yet, in bytes.
    let pendingByteCount: Int
    /// A batch that was read for the device and that it has not taken yet, in bytes.
    let spooledByteCount: Int
    let isReading: Bool
    /// Of uploads that wait or are being applied, in bytes.
    let uploadByteCount: Int
}

extension SessionRunner {
    /// Looks at the session and changes nothing.
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

    /// What a question about one object is answered from: values, so that the event loop is left alone while it is.
    func inspectSight() async -> (report: SessionReport, session: ServerSession, generation: Generation?) {
        (await inspect(), session, seat?.generation)
    }
}
