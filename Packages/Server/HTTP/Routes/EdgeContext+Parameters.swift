import Foundation
public import Hummingbird
public import TomboloModel
import TomboloLocalization

extension EdgeContext {
    /// The id in the address.
    /// - Throws: ``RequestFailure`` with status 400 for anything but 24 hexadecimal digits.
    public func id(_ name: String = "id") throws -> ObjectId {
        guard let text = parameters.get(name), let id = try? ObjectId(string: text) else {
            throw RequestFailure(
                .badRequest, localized("The address contains something that isn't an id."),
                hint: localized("An id has 24 hexadecimal digits."))
        }
        return id
    }

    /// The primary key in the address, for an object of the class.
    /// - Throws: ``RequestFailure`` with status 400 for text that can't be a key of the class.
    func key(of item: ClassSchema, _ name: String = "id") throws -> Value {
        guard let type = item.primaryKey?.type, type != .objectId else { return .objectId(try id(name)) }
        guard let text = parameters.get(name)?.removingPercentEncoding, !text.utf8.contains(0),
            let key = type.keyValue(text)
        else {
            throw RequestFailure(
                .badRequest, localized("The address contains something that isn't an id."),
                hint: localized("An id is \(type.name)."))
        }
        return key
    }
}

extension Request {
    /// A page number from the query, counted from 1; 1 if there is none.
    /// - Throws: ``RequestFailure`` with status 400 for anything but a number from 1 to `limit`.
    public func page(limit: Int = 100_000) throws -> Int {
        guard let text = uri.queryParameters["page"] else { return 1 }
        guard let number = Int(text), (1...limit).contains(number) else {
            throw RequestFailure(.badRequest, "'page' must be a number from 1 to \(limit).")
        }
        return number
    }

    /// An id from the query, or nil if there is none.
    /// - Throws: ``RequestFailure`` with status 400 for anything but 24 hexadecimal digits.
    public func queryID(_ name: String) throws -> ObjectId? {
        guard let text = uri.queryParameters[name[...]] else { return nil }
        guard let id = try? ObjectId(string: String(text)) else {
            throw RequestFailure(
                .badRequest, "'\(name)' is not an id.", hint: localized("An id has 24 hexadecimal digits."))
        }
        return id
    }
}
