import TomboloRules

/// The body of a change of the matrix: `{"role": "coorganizer", "service": "sessions", "operation": "update", "allowed":
/// false}`.
struct BoxRequest: Decodable, Sendable {
    let role: String
    let service: String
    let operation: String
    let allowed: Bool

    var box: PermissionMatrix.Box { .init(role: role, service: service, operation: Operation(operation)) }
}
