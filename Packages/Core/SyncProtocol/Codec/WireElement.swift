internal import TomboloChangesets

/// Nested messages that are counted before any is built: two bytes of an empty one become a hundred bytes of memory
/// and a microsecond of work.
enum WireElement: Int, CaseIterable {
    case helloClass, subscription, queryPart, changeset, changesetClass, instruction, fieldValue, refusal

    /// The most of them: within one subscription set for its queries and their parts, within one changeset for its
    /// classes, within one instruction for its values, otherwise within a message.
    var limit: Int {
        switch self {
        case .helloClass, .changesetClass: MessageCodec.maximumClassCount
        case .subscription: SubscriptionSet.maximumCount
        case .queryPart: SubscriptionSet.maximumPartCount
        case .changeset: MessageCodec.maximumChangesetsPerUpload
        case .instruction: Changeset.maximumInstructionCount
        case .fieldValue: MessageCodec.maximumPropertyCount
        case .refusal: MessageCodec.maximumRefusalCount
        }
    }

    /// What a message that has more of them is told.
    var refusal: String {
        switch self {
        case .helloClass: "A hello has at most \(limit) classes."
        case .subscription: "A subscription set has at most \(limit) queries."
        case .queryPart: "The queries of a subscription set have at most \(limit) parts together."
        case .changeset: "An upload has at most \(limit) changesets."
        case .changesetClass: "A changeset has at most \(limit) classes."
        case .instruction: "An upload has at most \(limit) instructions; send fewer changesets at once."
        case .fieldValue: "An instruction has at most \(limit) values."
        case .refusal: "A batch has at most \(limit) refusals."
        }
    }
}
