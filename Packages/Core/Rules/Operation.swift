internal import TomboloModel

/// What a subject wants to do. The first four decide about synced data; the others are capabilities that HTTP services
/// ask for. Applications add their own.
public struct Operation: Hashable, Sendable, CustomStringConvertible {
    public let name: String

    public init(_ name: String) { self.name = name }

    /// The context of the operation names' translations: the name follows "may".
    static let context = "may …"

    public static let read = Operation("read")
    public static let create = Operation("create")
    public static let update = Operation("update")
    /// To delete an object. A class with a trash moves it there.
    public static let delete = Operation("delete")
    /// To move an object into the trash over HTTP. Administrators may do so even if the sync rules don't let them
    /// delete anything.
    public static let trash = Operation("trash")
    /// To see the contents of the trash.
    public static let listTrash = Operation("listTrash")
    /// To restore an object from the trash, over HTTP or by creating an object with its key.
    public static let restore = Operation("restore")
    /// To inspect devices' sessions in a gateway, and why a device has or lacks an object.
    public static let inspect = Operation("inspect")
    /// To delete an object in the trash permanently.
    public static let purge = Operation("purge")

    /// To hand an exclusive role over to another user. The operation is on the object that gives the role.
    public static let transfer = Operation("transfer")

    /// To see accounts with their devices and logins. The matrix's `operations` say who may.
    public static let listAccounts = Operation("listAccounts")
    /// To change other users' accounts, such as to disable one. The matrix's `operations` say who may.
    public static let manageAccounts = Operation("manageAccounts")

    public var description: String { name }
}

extension Wording.Text.StringInterpolation {
    /// Appends the operation's name as it follows "may".
    mutating func appendInterpolation(_ operation: Operation) {
        appendInterpolation(name: operation.name, context: Operation.context)
    }
}
