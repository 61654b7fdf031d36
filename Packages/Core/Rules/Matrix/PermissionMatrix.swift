/// Which role may do what with which service, within one object such as an event: the `matrix` of a rule document.
///
/// Each box permits or doesn't. What the classes' own rules permit comes on top, such as reading what is published.
public struct PermissionMatrix: Hashable, Sendable {
    /// A name for one class or several that belong together, such as `tracks`.
    public struct Service: Hashable, Sendable {
        public let name: String
        /// In the order of the document.
        public let classNames: [String]
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

    /// What a box can be about, in the order of the letters `crud`.
    public static let operations: [Operation] = [.create, .read, .update, .delete]

    /// In the order of the document.
    public let roles: [String]
    /// The roles that grants list beside these: roles that count everywhere.
    public let everywhereRoles: [String]
    /// In the order of the document.
    public let services: [Service]
    let permitted: Set<Box>

    /// Whether the box is ticked; false for one that isn't there.
    public func permits(_ box: Box) -> Bool { permitted.contains(box) }

    /// Whether there is such a box.
    public func has(_ box: Box) -> Bool {
        roles.contains(box.role) && services.contains { $0.name == box.service }
            && Self.operations.contains(box.operation)
    }

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
