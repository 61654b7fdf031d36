public import TomboloChangesets
public import TomboloModel

/// What a device sends.
public enum ClientMessage: Hashable, Sendable {
    /// First, once for each connection.
    case hello(Hello)
    /// A new subscription set; replaces the one before.
    case subscribe(SubscriptionSet)
    /// Changesets in order of their numbers.
    case upload([Changeset])
    /// The device applied the batch of this tick; the gateway may send more.
    case applied(tick: Int64)
}

/// Opens a session.
public struct Hello: Hashable, Sendable {
    public var protocolVersion: Int
    /// The access token of the user.
    public var accessToken: String
    public var client: ClientID
    public var position: Position
    /// The set that the device's content was made with; ``SubscriptionSet/empty`` before the first batch.
    public var activeSubscriptions: SubscriptionSet
    /// The set that the device wants now; equal to the active one where nothing changed.
    public var wantedSubscriptions: SubscriptionSet
    /// The highest changeset number whose outcome the device has.
    public var acknowledged: Int64
    /// The device's classes and columns: the gateway sends no others.
    public var classes: [HelloClass]

    public init(
        protocolVersion: Int = ProtocolVersion.current, accessToken: String, client: ClientID, position: Position,
        activeSubscriptions: SubscriptionSet, wantedSubscriptions: SubscriptionSet, acknowledged: Int64,
        classes: [HelloClass]
    ) {
        self.protocolVersion = protocolVersion
        self.accessToken = accessToken
        self.client = client
        self.position = position
        self.activeSubscriptions = activeSubscriptions
        self.wantedSubscriptions = wantedSubscriptions
        self.acknowledged = acknowledged
        self.classes = classes
    }
}

/// One class of the device's schema, by names.
public struct HelloClass: Hashable, Sendable {
    public var name: String
    /// Property names with their types, as in ``Schema/canonicalText``: `price: int`.
    public var columns: [String]

    public init(name: String, columns: [String]) {
        self.name = name
        self.columns = columns
    }

    /// The description of every class of a schema.
    public static func describe(_ schema: Schema) -> [HelloClass] {
        schema.classes.map { item in
            HelloClass(name: item.name, columns: item.columns.map(describe))
        }
    }

    /// A column as hello describes it.
    public static func describe(_ column: Column) -> String {
        "\(column.name): \(column.type.name)\(column.isOptional ? "?" : "")"
    }

    /// A stable hash of the described classes: ``Position/schemaFingerprint``.
    public static func fingerprint(of classes: [HelloClass]) -> UInt64 {
        classes.map { "\($0.name)\n\($0.columns.joined(separator: "\n"))" }.joined(separator: "\n\n").stableHash
    }
}

/// Versions of the wire format. History:
/// - 1: the first.
/// - 2: decimals. A device of version 1 has no decimal properties, so that a gateway sends it none.
public enum ProtocolVersion {
    public static let current = 2
    /// The oldest that a gateway still speaks.
    public static let oldest = 1
}
