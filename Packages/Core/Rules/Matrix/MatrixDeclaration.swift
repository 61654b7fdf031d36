/// The matrix of a document, its names not checked against the classes yet.
struct MatrixDeclaration: Sendable {
    struct ServiceClass: Sendable {
        let name: String
        let line: Int
        /// The property with the key of what roles are granted in; nil for that of the whole matrix.
        let scope: RuleNode.Entry?
    }

    struct Service: Sendable {
        let name: String
        /// Empty for one whose boxes only rules ask for, by its name.
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
        /// The names of the groups that have it.
        let groups: Set<String>
    }

    let line: Int
    var scope: RuleNode.Entry?
    var services: [Service] = []
    var roles: [Role] = []
    /// Roles that count everywhere.
    var everywhere: [Role] = []
    /// Kinds of users, such as verified ones: everybody is of the first whose condition holds.
    var users: [UserGroup] = []
    /// What users may do wherever they have no role.
    var permissions: [UserPermission] = []
    /// The roles that may do what their boxes say and nothing else, since the rules name them nowhere.
    private(set) var addedRoles: Set<String> = []
    /// Of the services without classes, by name: the boxes that rules ask for.
    private(set) var asked: [String: AskedBoxes] = [:]
    /// Who may see the matrix, and who may change it: conditions on the user.
    var read: RuleNode?
    var write: RuleNode?
    /// Who may do something that isn't about objects: conditions on the user.
    var operations: [RuleNode.Entry] = []

    /// Notes what else the document says of the matrix: which roles it names nowhere, and which boxes it asks for.
    mutating func noteUses(in document: RuleNode) {
        addedRoles = Set((everywhere + roles).map(\.name).filter { !document.namesElsewhere($0) })
        let linked = Set(services.flatMap { $0.classes.map(\.name) })
        asked = AskedBoxes.found(
            in: document, of: services.filter(\.classes.isEmpty).map(\.name), classesWithScope: linked)
    }

    /// The added roles that may do nothing which a role may not do: they have no box that it hasn't, and count everywhere
    /// only if it does.
    /// - Returns: nil if the matrix has no such role.
    func addedRoles(within name: String) -> [String]? {
        let isEverywhere = everywhere.contains { $0.name == name }
        guard let role = (everywhere + roles).first(where: { $0.name == name }) else { return nil }
        return ((isEverywhere ? everywhere : []) + roles).filter { other in
            addedRoles.contains(other.name)
                && other.permitted.allSatisfy { $1.isSubset(of: role.permitted[$0] ?? []) }
        }.map(\.name)
    }

    /// - Parameter grants: those of the document.
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

    /// What the matrix says of these classes. Services stay, if only by their name.
    func keeping(_ classNames: Set<String>) -> MatrixDeclaration {
        var result = self
        for index in services.indices { result.services[index].classes.removeAll { !classNames.contains($0.name) } }
        return result
    }
}
