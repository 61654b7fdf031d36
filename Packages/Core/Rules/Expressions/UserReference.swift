internal import TomboloModel

/// What an expansion stands for: a value of the user, or the partition that the session is in.
enum UserReference: Sendable {
    case id
    case type
    case data([String])
    case customData([String])
    /// The names of the roles that the user has everywhere.
    case roles
    /// The keys of the objects within which the user has this role.
    case grants(String)
    /// The whole partition, and the parts of a string partition before and after its first `=`.
    case partition
    case partitionKey
    case partitionValue

    static let forms = [
        "%%user.id", "%%user.type", "%%user.data.NAME", "%%user.custom_data.NAME", "%%user.roles",
        "%%user.grants.ROLE",
    ]
    static let partitionForms = ["%%partition", "%%partition.key", "%%partition.value"]

    init?(_ text: String) {
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        switch text {
        case "%%partition": self = .partition
        case "%%partition.key": self = .partitionKey
        case "%%partition.value": self = .partitionValue
        default: self.init(ofUser: names)
        }
    }

    private init?(ofUser names: [String]) {
        guard names.count >= 2, names[0] == "%%user", !names.contains("") else { return nil }
        switch (names[1], names.count) {
        case ("id", 2): self = .id
        case ("type", 2): self = .type
        case ("roles", 2): self = .roles
        case ("grants", 3): self = .grants(names[2])
        case ("data", 3...): self = .data(Array(names[2...]))
        case ("custom_data", 3...): self = .customData(Array(names[2...]))
        default: return nil
        }
    }

    /// Whether it always stands for a list.
    var isList: Bool {
        switch self {
        case .roles, .grants: true
        case .id, .type, .data, .customData, .partition, .partitionKey, .partitionValue: false
        }
    }

    /// Whether it can stand for a list.
    var canBeList: Bool {
        switch self {
        case .roles, .grants, .data, .customData: true
        case .id, .type, .partition, .partitionKey, .partitionValue: false
        }
    }

    /// Whether it refers to the session and not to the user.
    var isOfPartition: Bool {
        switch self {
        case .partition, .partitionKey, .partitionValue: true
        case .id, .type, .roles, .grants, .data, .customData: false
        }
    }
}

/// Names are compared by their bytes, as role names are.
extension UserReference: Hashable {
    static func == (left: UserReference, right: UserReference) -> Bool {
        left.description.hasBytes(of: right.description)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(Value.string(description)) }
}

extension UserReference: CustomStringConvertible {
    var description: String {
        switch self {
        case .id: "%%user.id"
        case .type: "%%user.type"
        case .data(let path): "%%user.data.\(path.joined(separator: "."))"
        case .customData(let path): "%%user.custom_data.\(path.joined(separator: "."))"
        case .roles: "%%user.roles"
        case .grants(let role): "%%user.grants.\(role)"
        case .partition: "%%partition"
        case .partitionKey: "%%partition.key"
        case .partitionValue: "%%partition.value"
        }
    }
}
