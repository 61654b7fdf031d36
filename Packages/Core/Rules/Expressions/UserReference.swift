/// What an expansion that begins with `%%user` stands for.
enum UserReference: Hashable, Sendable {
    case id
    case type
    case data([String])
    case customData([String])
    /// The names of the roles that the user has everywhere.
    case roles
    /// The keys of the objects within which the user has a role.
    case grants(String)

    static let forms = [
        "%%user.id", "%%user.type", "%%user.data.NAME", "%%user.custom_data.NAME", "%%user.roles",
        "%%user.grants.ROLE",
    ]

    init?(_ text: String) {
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
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
        case .id, .type, .data, .customData: false
        }
    }
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
        }
    }
}
