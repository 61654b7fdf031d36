import Tombolo

extension SyncError {
    /// The device stalled for so long between connecting and its hello that the gateway gave up. It reconnects and goes
    /// on, so this error doesn't matter to a test.
    var isOfSlowOpening: Bool { message.contains("did not open its session within") }
}
