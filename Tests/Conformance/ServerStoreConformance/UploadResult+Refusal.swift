public import TomboloChangesets
public import TomboloSyncSession

extension UploadResult {
    /// The first refusal, or nil if everything was applied.
    public var refusal: Refusal? {
        if case .applied(_, let refusals) = self { refusals.first } else { nil }
    }

    /// The result of a changeset that did nothing but get this refusal.
    public static func refused(_ refusal: Refusal) -> UploadResult { .applied(lost: 0, refusals: [refusal]) }
}
