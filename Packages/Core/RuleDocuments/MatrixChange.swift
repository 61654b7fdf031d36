internal import TomboloModel
public import TomboloRules

/// One thing that administrators changed in the matrix of an app's rules, as a value: it says nothing about the
/// document's text.
///
/// Its description completes "kept: ".
public enum MatrixChange: Hashable, Sendable, CustomStringConvertible {
    case box(PermissionMatrix.Box, isPermitted: Bool)
    case userBox(PermissionMatrix.UserBox, isPermitted: Bool)
    /// - `isEverywhere`: whether the role applies everywhere, and not within an object.
    /// - `boxes`: the ticked boxes, by service.
    case added(String, isEverywhere: Bool, boxes: [String: Set<TomboloRules.Operation>])
    case removed(String)

    public var description: String {
        switch self {
        case .box(let box, let isPermitted):
            return "'\(box.role)' \(isPermitted ? "may" : "may not") \(box.operation) \(box.service)"
        case .userBox(let box, let isPermitted):
            return "'\(box.group)' users \(isPermitted ? "have" : "don't have") '\(box.permission)'"
        case .added(let name, let isEverywhere, let boxes):
            let ticked = boxes.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { service, operations in
                "\(service) \(PermissionMatrix.letters(operations.contains))"
            }
            let kind = isEverywhere ? "the role '\(name)', which applies everywhere" : "the role '\(name)'"
            return ticked.isEmpty ? kind : "\(kind) (\(ticked.joined(separator: ", ")))"
        case .removed(let name): return "the role '\(name)' is removed"
        }
    }
}

extension PermissionMatrix {
    /// Whether a role has boxes in both matrices, and applies everywhere in both or in neither.
    func shares(_ role: String, with other: PermissionMatrix) -> Bool {
        rows.contains(role) && other.rows.contains(role) && roles.contains(role) == other.roles.contains(role)
    }

    /// The changes that turn an earlier matrix into this one, in an order in which they can be applied. A renamed role
    /// counts as removed and added. Services aren't compared, since admin servers don't change them.
    public func changes(since base: PermissionMatrix) -> [MatrixChange] {
        var changes = base.rows.filter { !shares($0, with: base) }.map(MatrixChange.removed)
        for role in rows where !shares(role, with: base) {
            changes.append(.added(role, isEverywhere: !roles.contains(role), boxes: ticked(role)))
        }
        for box in boxes where shares(box.role, with: base) && base.has(box) && base.permits(box) != permits(box) {
            changes.append(.box(box, isPermitted: permits(box)))
        }
        for permission in userPermissions {
            for group in userGroups {
                let box = UserBox(permission: permission, group: group)
                guard base.has(box), base.permits(box) != permits(box) else { continue }
                changes.append(.userBox(box, isPermitted: permits(box)))
            }
        }
        return changes
    }

    /// The boxes of all roles, in the document's order.
    private var boxes: [Box] { rows.flatMap(boxes(of:)) }

    /// The boxes of one role, in the document's order.
    func boxes(of role: String) -> [Box] {
        services.flatMap { service in
            Self.operations.map { Box(role: role, service: service.name, operation: $0) }
        }
    }

    private func ticked(_ role: String) -> [String: Set<Operation>] {
        boxes(of: role).filter(permits).reduce(into: [:]) { $0[$1.service, default: []].insert($1.operation) }
    }
}
