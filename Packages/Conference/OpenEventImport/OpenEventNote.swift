/// Something odd in an export that was imported anyway, and how it was interpreted.
public struct OpenEventNote: Hashable, Sendable, CustomStringConvertible {
    public let file: String
    /// The record's number in the file, from 1.
    public let record: Int?
    public let message: String

    public var description: String { "\(file)\(record.map { ", record \($0)" } ?? ""): \(message)" }
}
