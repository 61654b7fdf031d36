import Tombolo

extension SyncError {
    /// The device stood still between connecting and its hello for so long that the gateway gave up. It connects again, and
    /// everything goes on: it says nothing about what a test looks at.
    var isOfSlowOpening: Bool { message.contains("did not open its session within") }
}
