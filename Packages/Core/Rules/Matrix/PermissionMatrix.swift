/// Which role may do what with which service, within one object such as an event: the `matrix` of a rule document.
///
/// Each box permits or doesn't. What the classes' own rules permit comes on top, such as reading what is published.
public struct PermissionMatrix: Hashable, Sendable {
    /// A name for one class or several that belong together, such as `tracks`.
    public struct Service: Hashable, Sendable {
        public let name: String
        /// In the order of the document; none for what rules ask for by the service's name, such as the trash.
        public let classNames: [String]
        /// The operations whose boxes say something for roles that count everywhere: all of a service with classes, and those
        /// that the rules ask for of one without.
        let everywhere: Set<Operation>
        /// The same for roles within an object.
        let within: Set<Operation>
        let purposes: [Operation: Set<BoxPurpose>]

        /// What the rules ask for the box of an operation for, of a service without classes.
        public func purposes(of operation: Operation) -> Set<BoxPurpose> { purposes[operation] ?? [] }

        /// Whether a ticked box of the operation permits anything.
        /// - Parameter isEverywhere: whether it's a box of a role that counts everywhere.
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

    /// Whether users of a group, such as those whose address isn't verified, have a permission such as `createEvent`.
    public struct UserBox: Hashable, Sendable {
        public let permission: String
        public let group: String

        public init(permission: String, group: String) {
            self.permission = permission
            self.group = group
        }
    }

    /// What a box can be about, in the order of the letters `crud`.
    public static let operations: [Operation] = [.create, .read, .update, .delete]

    /// In the order of the document.
    public let roles: [String]
    /// The roles that grants list beside these: roles that count everywhere.
    public let everywhereRoles: [String]
    /// Those of the roles that count everywhere that the document has boxes for, in its order. What the others may do
    /// follows from the classes' own rules.
    public let everywhereRows: [String]
    /// In the order of the document.
    public let services: [Service]
    let permitted: Set<Box>
    /// In the order of the document, which is that in which they are asked: a user is of the first that holds.
    public let userGroups: [String]
    /// In the order of the document.
    public let userPermissions: [String]
    let permittedUsers: Set<UserBox>

    /// Whether the box is ticked; false for one that isn't there.
    public func permits(_ box: Box) -> Bool { permitted.contains(box) }

    /// Whether there is such a box.
    public func has(_ box: Box) -> Bool {
        rows.contains(box.role) && services.contains { $0.name == box.service }
            && Self.operations.contains(box.operation)
    }

    /// Whether the box permits anything when it's ticked; false for one that isn't there.
    public func counts(_ box: Box) -> Bool {
        has(box) && counts(box.operation, of: box.service, isEverywhere: !roles.contains(box.role))
    }

    /// The same for a role that isn't there yet.
    public func counts(_ operation: Operation, of service: String, isEverywhere: Bool) -> Bool {
        services.contains { $0.name == service && $0.counts(operation, isEverywhere: isEverywhere) }
    }

    /// Whether the box is ticked; false for one that isn't there.
    public func permits(_ box: UserBox) -> Bool { permittedUsers.contains(box) }

    /// Whether there is such a box.
    public func has(_ box: UserBox) -> Bool {
        userGroups.contains(box.group) && userPermissions.contains(box.permission)
    }

    /// The boxes of users that are ticked in only one of two.
    public func userDifferences(from other: PermissionMatrix) -> Set<UserBox> {
        permittedUsers.symmetricDifference(other.permittedUsers)
    }

    /// All roles with boxes.
    public var rows: [String] { everywhereRows + roles }

    /// The boxes that are ticked in only one of two.
    public func differences(from other: PermissionMatrix) -> Set<Box> {
        permitted.symmetricDifference(other.permitted)
    }

    /// What a role may do with a service, as in documents: `-ru-`.
    public func letters(role: String, service: String) -> String {
        Self.letters { permits(Box(role: role, service: service, operation: $0)) }
    }

    /// A letter or a dash for each operation.
    package static func letters(_ isPermitted: (Operation) -> Bool) -> String {
        String(operations.map { isPermitted($0) ? letter($0) : "-" })
    }

    static func letter(_ operation: Operation) -> Character { operation.name.first ?? "-" }
}
