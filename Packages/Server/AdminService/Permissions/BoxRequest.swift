import TomboloHTTP
import TomboloRules

/// The body that changes one box of the matrix: `{"role": "coorganizer", "service": "sessions", "operation":
/// "update", "allowed": false}`, or for a user permission `{"permission": "createEvent", "group": "unverified",
/// "allowed": true}`.
struct BoxRequest: Decodable, Sendable {
    enum Box: Sendable {
        case role(PermissionMatrix.Box)
        case users(PermissionMatrix.UserBox)
    }

    var role: String?
    var service: String?
    var operation: String?
    var permission: String?
    var group: String?
    let allowed: Bool

    /// - Throws: `RequestFailure` with status 400 for a body that names no box, or mixes both forms.
    var box: Box {
        get throws {
            switch (role, service, operation, permission, group) {
            case (let role?, let service?, let operation?, nil, nil):
                return .role(.init(role: role, service: service, operation: Operation(operation)))
            case (nil, nil, nil, let permission?, let group?):
                return .users(.init(permission: permission, group: group))
            default:
                throw RequestFailure(
                    .badRequest, "The body doesn't name a box.",
                    hint: "Send 'role', 'service' and 'operation', or 'permission' and 'group', with 'allowed'.")
            }
        }
    }
}
