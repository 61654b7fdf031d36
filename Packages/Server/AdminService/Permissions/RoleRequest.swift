import TomboloHTTP
import TomboloRules
import TomboloServerModel

/// The body that adds a role: `{"name": "herald", "everywhere": false, "permissions": {"sessions": ["read",
/// "update"]}}`. Anything that isn't named isn't permitted.
struct RoleRequest: Decodable, Sendable {
    let name: String
    var everywhere: Bool?
    var permissions: [String: [String]]?

    /// The body that renames a role.
    struct NewName: Decodable, Sendable {
        let name: String
    }

    var change: RoleChange {
        let boxes = (permissions ?? [:]).mapValues { Set($0.map { Operation($0) }) }
        return .add(name, isEverywhere: everywhere ?? false, boxes: boxes)
    }
}
