/// Which role may do what with which service, within one object such as an event: the `matrix` of a rule document.
///
/// Each box either permits or doesn't. The classes' own rules may permit more, such as reading published objects.
public struct PermissionMatrix: Hashable, Sendable {
    /// A name for one or more classes that belong together, such as `tracks`.
    public struct Service: Hashable, Sendable {
        public let name: String
        /// In the document's order. Empty for a service that rules ask for by its name, such as the trash.
        public let classNames: [String]
        /// The operations whose boxes have an effect for roles that apply everywhere: all of them for a service with
        /// classes, and otherwise those that the rules ask for.
        let everywhere: Set<Operation>
        /// The same for roles within an object.
        let within: Set<Operation>
        let purposes: [Operation: Set<BoxPurpose>]

        /// What the rules ask an operation's box for, in a service without classes.
        public func purposes(of operation: Operation) -> Set<BoxPurpose> { purposes[operation] ?? [] }

        /// Whether a ticked box of the operation permits anything.
        /// - Parameter isEverywhere: whether the box belongs to a role that applies everywhere.
        public func counts(_ operation: Operation, isEverywhere: Bool) -> Bool {
            (isEverywhere ? everywhere : within).contains(operation)
        }
    }

    public struct Box: Hashable, Sendable {
        public let role: String
        public let service: String
        /// One of ``PermissionMatrix/operations``.
        public let operation: Operation

        public init(role: String, service: String, operation: Operation) {
            self.role = role
            self.service = service
            self.operation = operation
        }
    }

    /// Whether users of a group, such as those with an unverified address, have a permission such as `createEvent`.
    public struct UserBox: Hashable, Sendable {
        public let permission: String
        public let group: String

        public init(permission: String, group: String) {
            self.permission = permission
            self.group = group
        }
    }

    /// The operations that have boxes, in the order of the letters `crud`.
    public static let operations: [Operation] = [.create, .read, .update, .delete]

    /// In the document's order.
    public let roles: [String]
    /// The other roles that grants list. They apply everywhere.
    public let everywhereRoles: [String]
    /// The roles that apply everywhere and have boxes in the document, in its order. Only the classes' own rules say
    /// what the others may do.
    public let everywhereRows: [String]
    /// In the document's order.
    public let services: [Service]
    let permitted: Set<Box>
    /// In the document's order, which is the order of evaluation: a user belongs to the first group whose condition
    /// holds.
    public let userGroups: [String]
    /// In the document's order.
    public let userPermissions: [String]
    let permittedUsers: Set<UserBox>

    /// Whether the box is ticked; false for a box that doesn't exist.
    public func permits(_ box: Box) -> Bool { permitted.contains(box) }

    /// Whether the box exists.
    public func has(_ box: Box) -> Bool {
        rows.contains(box.role) && services.contains { $0.name == box.service }
            && Self.operations.contains(box.operation)
    }

    /// Whether the box permits anything when it's ticked; false for a box that doesn't exist.
    public func counts(_ box: Box) -> Bool {
        has(box) && counts(box.operation, of: box.service, isEverywhere: !roles.contains(box.role))
    }

    /// The same for a role that doesn't exist yet.
    public func counts(_ operation: Operation, of service: String, isEverywhere: Bool) -> Bool {
        services.contains { $0.name == service && $0.counts(operation, isEverywhere: isEverywhere) }
    }

    /// Whether the box is ticked; false for a box that doesn't exist.
    public func permits(_ box: UserBox) -> Bool { permittedUsers.contains(box) }

    /// Whether the box exists.
    public func has(_ box: UserBox) -> Bool {
        userGroups.contains(box.group) && userPermissions.contains(box.permission)
    }

    /// The user boxes that are ticked in only one of the two matrices.
    public func userDifferences(from other: PermissionMatrix) -> Set<UserBox> {
        permittedUsers.symmetricDifference(other.permittedUsers)
    }

    /// All roles with boxes.
    public var rows: [String] { everywhereRows + roles }

    /// The boxes that are ticked in only one of the two matrices.
    public func differences(from other: PermissionMatrix) -> Set<Box> {
        permitted.symmetricDifference(other.permitted)
    }

    /// What a role may do with a service, as in documents: `-ru-`.
    public func letters(role: String, service: String) -> String {
        Self.letters { permits(Box(role: role, service: service, operation: $0)) }
    }

    /// A letter for each permitted operation, a dash for each of the others.
    package static func letters(_ isPermitted: (Operation) -> Bool) -> String {
        String(operations.map { isPermitted($0) ? letter($0) : "-" })
    }

    static func letter(_ operation: Operation) -> Character { operation.name.first ?? "-" }
}
