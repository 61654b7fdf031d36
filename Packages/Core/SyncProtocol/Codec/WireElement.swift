internal import TomboloChangesets

/// Nested messages that are counted before any is built, since two bytes of an empty one turn into a hundred bytes of
/// memory and a microsecond of work.
enum WireElement: Int, CaseIterable {
    case helloClass, subscription, queryPart, changeset, changesetClass, instruction, fieldValue, refusal

    /// Their maximum number: queries and query parts per subscription set, classes per changeset, values per
    /// instruction, otherwise per message.
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

    /// The error for a message with more of them.
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
