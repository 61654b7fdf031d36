/// Something odd in an export that was imported all the same, with what was made of it.
public struct OpenEventNote: Hashable, Sendable, CustomStringConvertible {
    public let file: String
    /// Which record of the file, from 1.
    public let record: Int?
    public let message: String

    public var description: String { "\(file)\(record.map { ", record \($0)" } ?? ""): \(message)" }
}
