/// The matrix of a document. Its names haven't been checked against the classes yet.
struct MatrixDeclaration: Sendable {
    struct ServiceClass: Sendable {
        let name: String
        let line: Int
        /// The property with the key of the object that roles are granted in, or nil to use the whole matrix's `scope`.
        let scope: RuleNode.Entry?
    }

    struct Service: Sendable {
        let name: String
        /// Empty for a service whose boxes only rules ask for, by its name.
        var classes: [ServiceClass]
    }

    struct Role: Sendable {
        let name: String
        let line: Int
        /// By the name of the service.
        let permitted: [String: Set<Operation>]
    }

    struct UserGroup: Sendable {
        let name: String
        let line: Int
        let condition: RuleNode
    }

    struct UserPermission: Sendable {
        let name: String
        let line: Int
        /// The names of the groups that have the permission.
        let groups: Set<String>
    }

    let line: Int
    var scope: RuleNode.Entry?
    var services: [Service] = []
    var roles: [Role] = []
    /// Roles that apply everywhere.
    var everywhere: [Role] = []
    /// Kinds of users, such as verified ones. A user belongs to the first whose condition holds.
    var users: [UserGroup] = []
    /// What users may do even where they have no role.
    var permissions: [UserPermission] = []
    /// The roles that may do only what their boxes say, since the rules never name them.
    private(set) var addedRoles: Set<String> = []
    /// For services without classes, by name: the boxes that rules ask for.
    private(set) var asked: [String: AskedBoxes] = [:]
    /// Who may see the matrix, as a condition on the user. ``write`` says who may change it.
    var read: RuleNode?
    var write: RuleNode?
    /// Who may do something that isn't about objects, as conditions on the user.
    var operations: [RuleNode.Entry] = []

    /// Notes which roles the rest of the document never names, and which boxes it asks for.
    mutating func noteUses(in document: RuleNode) {
        addedRoles = Set((everywhere + roles).map(\.name).filter { !document.namesElsewhere($0) })
        let linked = Set(services.flatMap { $0.classes.map(\.name) })
        asked = AskedBoxes.found(
            in: document, of: services.filter(\.classes.isEmpty).map(\.name), classesWithScope: linked)
    }

    /// The added roles that may do nothing that the named role may not: it has every box that they have, and they count
    /// everywhere only if it does too.
    /// - Returns: nil if the matrix has no such role.
    func addedRoles(within name: String) -> [String]? {
        let isEverywhere = everywhere.contains { $0.name == name }
        guard let role = (everywhere + roles).first(where: { $0.name == name }) else { return nil }
        return ((isEverywhere ? everywhere : []) + roles).filter { other in
            addedRoles.contains(other.name)
                && other.permitted.allSatisfy { $1.isSubset(of: role.permitted[$0] ?? []) }
        }.map(\.name)
    }

    /// - Parameter grants: the document's grants.
    func matrix(_ grants: [GrantDeclaration]) -> PermissionMatrix {
        var permitted: Set<PermissionMatrix.Box> = []
        for role in everywhere + roles {
            for (service, operations) in role.permitted {
                for operation in operations {
                    permitted.insert(.init(role: role.name, service: service, operation: operation))
                }
            }
        }
        let rows = everywhere.map(\.name)
        let listed = grants.flatMap { $0.roles ?? [] }.filter { name in !roles.contains { $0.name == name } }
        return PermissionMatrix(
            roles: roles.map(\.name), everywhereRoles: listed + rows.filter { !listed.contains($0) },
            everywhereRows: rows,
            services: services.map { service in
                let asked = asked[service.name] ?? .all
                return .init(
                    name: service.name, classNames: service.classes.map(\.name), everywhere: asked.everywhere,
                    within: asked.within, purposes: asked.purposes)
            }, permitted: permitted,
            userGroups: users.map(\.name), userPermissions: permissions.map(\.name),
            permittedUsers: Set(
                permissions.flatMap { permission in
                    permission.groups.map { .init(permission: permission.name, group: $0) }
                }))
    }

    /// The part of the matrix about these classes. Every service stays, even if only its name is left.
    func keeping(_ classNames: Set<String>) -> MatrixDeclaration {
        var result = self
        for index in services.indices { result.services[index].classes.removeAll { !classNames.contains($0.name) } }
        return result
    }
}
