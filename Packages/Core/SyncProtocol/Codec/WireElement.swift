internal import TomboloChangesets

/// Nested messages that are counted before any of them is built, because the two bytes of an empty one become a hundred
/// bytes in memory and take a microsecond of work.
enum WireElement: Int, CaseIterable {
    case helloClass, subscription, queryPart, changeset, changesetClass, instruction, fieldValue, refusal

    /// Their maximum number. It applies to a subscription set for queries and query parts, to a changeset for classes,
    /// to an instruction for values, and otherwise to the whole message.
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

    /// The error message if there are more.
    var refusal: String {
        switch self {
        case .helloClass: "A hello may have at most \(limit) classes."
        case .subscription: "A subscription set may have at most \(limit) queries."
        case .queryPart: "The queries of a subscription set may have at most \(limit) parts together."
        case .changeset: "An upload may have at most \(limit) changesets."
        case .changesetClass: "A changeset may have at most \(limit) classes."
        case .instruction: "An upload may have at most \(limit) instructions; send fewer changesets at once."
        case .fieldValue: "An instruction may have at most \(limit) values."
        case .refusal: "A batch may have at most \(limit) refusals."
        }
    }
}
