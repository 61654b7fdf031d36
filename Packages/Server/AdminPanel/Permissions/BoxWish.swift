import AdminService
import TomboloHTTP
import TomboloLocalization
import TomboloRules

/// The box of the matrix that a form or an address is about, and its desired state.
struct BoxWish: Sendable {
    enum Box: Sendable {
        case role(PermissionMatrix.Box, classNames: [String])
        case users(PermissionMatrix.UserBox)
    }

    let box: Box
    let allowed: Bool
    let version: Int64
    /// Whether the box already has that state.
    let isSet: Bool

    private static var unclear: RequestFailure {
        RequestFailure(.unprocessable, "The address doesn't name a box.")
    }

    /// - Throws: ``RequestFailure`` with status 422 for a box that the matrix doesn't have.
    init(_ field: (String) -> String?, _ grant: MatrixGrant) throws {
        guard let allowed = field("allowed").flatMap({ Bool($0) }),
            let version = field("version").flatMap({ Int64($0) })
        else { throw Self.unclear }
        self.allowed = allowed
        self.version = version
        let matrix = grant.matrix
        let missing = RequestFailure(.unprocessable, "The matrix of \(grant.app) has no such box.")
        if let permission = field("permission") {
            let box = PermissionMatrix.UserBox(permission: permission, group: field("group") ?? "")
            guard matrix.has(box) else { throw missing }
            self.box = .users(box)
            isSet = matrix.permits(box) == allowed
        } else {
            guard let role = field("role"), let service = field("service"), let operation = field("operation") else {
                throw Self.unclear
            }
            let box = PermissionMatrix.Box(role: role, service: service, operation: Operation(operation))
            guard matrix.has(box) else { throw missing }
            self.box = .role(box, classNames: matrix.services.first { $0.name == service }?.classNames ?? [])
            isSet = matrix.permits(box) == allowed
        }
    }

    /// The notice after the change.
    var notice: String {
        switch box {
        case .role(let box, _):
            let (role, verb, service) = (localizedName(box.role), box.operation.verb, ClassTitle.service(box.service))
            return allowed
                ? localized("\(role) may now \(verb) \(service).")
                : localized("\(role) may no longer \(verb) \(service).")
        case .users(let box):
            let group = localizedName(box.group).capitalizedFirst
            let permission = localizedName(box.permission)
            return allowed
                ? localized("\(group) users now have the permission \(permission).")
                : localized("\(group) users no longer have the permission \(permission).")
        }
    }
}

extension String {
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
