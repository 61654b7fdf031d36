internal import TomboloModel

/// What is asked for. The first four decide over synced data; the others are capabilities that HTTP services ask for.
/// Applications add their own.
public struct Operation: Hashable, Sendable, CustomStringConvertible {
    public let name: String

    public init(_ name: String) { self.name = name }

    /// Of translations of its name, as it follows "may".
    static let context = "may …"

    public static let read = Operation("read")
    public static let create = Operation("create")
    public static let update = Operation("update")
    /// To erase an object, which for a class with a trash moves it there.
    public static let delete = Operation("delete")
    /// To move an object into the trash over HTTP; administrators may where the sync rules let them erase nothing.
    public static let trash = Operation("trash")
    /// To see what is in the trash.
    public static let listTrash = Operation("listTrash")
    /// To take an object out of the trash, over HTTP or by creating an object with its key.
    public static let restore = Operation("restore")
    /// To look at devices' sessions in a gateway, and why a device has or lacks an object.
    public static let inspect = Operation("inspect")
    /// To delete an object in the trash for ever.
    public static let purge = Operation("purge")

    /// To hand an exclusive role over to another user, of the object that gives it.
    public static let transfer = Operation("transfer")

    /// To see accounts with their devices and logins; asked of a matrix, whose `operations` say who may.
    public static let listAccounts = Operation("listAccounts")
    /// To change accounts of others, such as to disable one; asked of a matrix.
    public static let manageAccounts = Operation("manageAccounts")

    public var description: String { name }
}

extension Wording.Text.StringInterpolation {
    /// As it follows "may".
    mutating func appendInterpolation(_ operation: Operation) {
        appendInterpolation(name: operation.name, context: Operation.context)
    }
}
