import TomboloHTTP
import TomboloRules
import TomboloServerModel

/// The body of a new role: `{"name": "herald", "everywhere": false, "permissions": {"sessions": ["read", "update"]}}`. What
/// isn't named isn't permitted.
struct RoleRequest: Decodable, Sendable {
    let name: String
    var everywhere: Bool?
    var permissions: [String: [String]]?

    /// The body of a rename.
    struct NewName: Decodable, Sendable {
        let name: String
    }

    var change: RoleChange {
        let boxes = (permissions ?? [:]).mapValues { Set($0.map { Operation($0) }) }
        return .add(name, isEverywhere: everywhere ?? false, boxes: boxes)
    }
}
