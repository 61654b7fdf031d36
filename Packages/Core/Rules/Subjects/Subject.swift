public import TomboloModel

/// The caller: a user with what is known about them, or somebody who isn't logged in.
public struct Subject: Hashable, Sendable {
    /// Nil for somebody who isn't logged in.
    public let userID: ObjectId?
    /// The account's data, such as `email`: `%%user.data` in rules. Like ``customData``, it contains no nulls: a null
    /// counts as missing.
    public let data: [String: UserValue]
    /// The operator's data about the user: `%%user.custom_data` in rules.
    public let customData: [String: UserValue]
    /// The roles that rows of other classes give to the user: `%%user.roles` and `%%user.grants` in rules.
    public let grants: Set<RoleGrant>
    /// The partition that the session is in: `%%partition` in rules. `.null` is the partition of objects without one.
    /// Nil for a session with subscriptions and for HTTP, which aren't in any. In a partition, nobody may do anything
    /// with objects outside it.
    public let partition: Value?
    /// From ``grants``: the names of the roles that apply everywhere, in order.
    private let roleNames: [UserValue]
    /// From ``grants``: the objects within which each role counts, in order, by its name. A user may have hundreds, and
    /// each decision needs those of a few roles.
    let scopes: [Role: [Value]]

    private init(
        userID: ObjectId?, data: [String: UserValue], customData: [String: UserValue], grants: Set<RoleGrant>,
        partition: Value? = nil
    ) {
        self.userID = userID
        self.partition = partition
        self.data = data.compactMapValues(\.withoutNulls)
        self.customData = customData.compactMapValues(\.withoutNulls)
        self.grants = grants
        roleNames = grants.compactMap { $0.scope == nil ? $0.role.name : nil }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map(UserValue.string)
        scopes = Dictionary(grouping: grants.filter { $0.scope != nil }, by: \.role)
            .mapValues { $0.compactMap(\.scope).sorted(by: Value.sortsBefore) }
    }

    /// The values are the database's current ones: servers make a new subject when those change.
    public init(
        user: ObjectId, data: [String: UserValue] = [:], customData: [String: UserValue] = [:],
        grants: Set<RoleGrant> = []
    ) {
        self.init(userID: user, data: data, customData: customData, grants: grants)
    }

    /// The same user in a session that is in this partition.
    public func inPartition(_ partition: Value) -> Subject {
        Subject(userID: userID, data: data, customData: customData, grants: grants, partition: partition)
    }

    public static let anonymous = Subject(userID: nil, data: [:], customData: [:], grants: [])

    public var isAnonymous: Bool { userID == nil }

    /// What an expansion stands for; nil if the user has no such value, or null.
    func value(of reference: UserReference) -> UserValue? {
        guard let userID else { return nil }
        switch reference {
        case .id: return .string(userID.stringValue)
        case .type: return .string("normal")
        case .data(let path): return UserValue.object(data).value(at: path)
        case .customData(let path): return UserValue.object(customData).value(at: path)
        case .roles: return .array(roleNames)
        case .grants(let role): return .array((scopes[Role(role)] ?? []).map { UserValue(key: $0) })
        case .partition: return partition.flatMap { UserValue(key: $0).withoutNulls }
        case .partitionKey: return partitionParts.map { .string($0.key) }
        case .partitionValue: return partitionParts.map { .string($0.value) }
        }
    }

    /// The parts of a string before and after its first `=`; nil without a `=`, and for a partition that isn't a
    /// string.
    private var partitionParts: (key: String, value: String)? {
        guard case .string(let text) = partition else { return nil }
        let bytes = text.utf8
        guard let sign = bytes.firstIndex(of: UInt8(ascii: "=")),
            let key = String(bytes[..<sign]), let value = String(bytes[bytes.index(after: sign)...])
        else { return nil }
        return (key, value)
    }
}

extension Subject {
    public static func == (left: Subject, right: Subject) -> Bool {
        left.userID == right.userID && left.partition == right.partition && left.data == right.data
            && left.customData == right.customData && left.grants == right.grants
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(userID)
        hasher.combine(partition)
        hasher.combine(data)
        hasher.combine(customData)
        hasher.combine(grants)
    }
}
