public import TomboloChangesets
public import TomboloModel

/// A message from a device to a gateway.
public enum ClientMessage: Hashable, Sendable {
    /// The first message of each connection.
    case hello(Hello)
    /// A new subscription set, which replaces the previous one.
    case subscribe(SubscriptionSet)
    /// Changesets in numerical order.
    case upload([Changeset])
    /// The device has applied the batch of this tick, so the gateway may send more.
    case applied(tick: Int64)
}

/// Opens a session.
public struct Hello: Hashable, Sendable {
    /// The version of the wire format that the device speaks.
    public var protocolVersion: Int
    /// The user's access token.
    public var accessToken: String
    /// The device file.
    public var client: ClientID
    /// The device's position; ``Position/none`` before the first batch.
    public var position: Position
    /// The subscription set that the device's content was made with; ``SubscriptionSet/empty`` before the first batch.
    public var activeSubscriptions: SubscriptionSet
    /// The subscription set that the device wants now. Equals the active one if nothing changed.
    public var wantedSubscriptions: SubscriptionSet
    /// The highest changeset number whose outcome the device knows.
    public var acknowledged: Int64
    /// The device's classes and columns. The gateway sends only these.
    public var classes: [HelloClass]
    /// The session's partition, which replaces subscriptions, or nil if the session uses subscriptions. `.null` is the
    /// partition of objects that have none.
    public var partition: Value?

    public init(
        protocolVersion: Int = ProtocolVersion.current, accessToken: String, client: ClientID, position: Position,
        activeSubscriptions: SubscriptionSet, wantedSubscriptions: SubscriptionSet, acknowledged: Int64,
        classes: [HelloClass], partition: Value? = nil
    ) {
        self.partition = partition
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

/// One class of the device's schema, described by names.
public struct HelloClass: Hashable, Sendable {
    /// The name of the class.
    public var name: String
    /// Property names with their types, as in ``Schema/canonicalText``: `price: int`.
    public var columns: [String]

    public init(name: String, columns: [String]) {
        self.name = name
        self.columns = columns
    }

    /// Describes every class of a schema.
    public static func describe(_ schema: Schema) -> [HelloClass] {
        schema.classes.map { item in
            HelloClass(name: item.name, columns: item.columns.map(describe))
        }
    }

    /// Describes a column as a hello does.
    public static func describe(_ column: Column) -> String {
        "\(column.name): \(column.type.name)\(column.isOptional ? "?" : "")"
    }

    /// A stable hash of the described classes, for ``Position/schemaFingerprint``.
    public static func fingerprint(of classes: [HelloClass]) -> UInt64 {
        classes.map { "\($0.name)\n\($0.columns.joined(separator: "\n"))" }.joined(separator: "\n\n").stableHash
    }
}

/// Versions of the wire format. History:
/// - 1: the first.
/// - 2: decimals. A device with version 1 has no decimal properties, so a gateway doesn't send it any.
/// - 3: partitions, and several refusals with roles for one changeset. A device that opens no partition claims version
///   2, which older gateways understand too. A welcome may say that the device's position has expired. It says so to
///   devices of every version; older ones ignore it.
public enum ProtocolVersion {
    /// The version that this code writes.
    public static let current = 3
    /// The newest version without partitions.
    public static let withoutPartitions = 2
    /// The oldest version that a gateway still speaks.
    public static let oldest = 1
}
