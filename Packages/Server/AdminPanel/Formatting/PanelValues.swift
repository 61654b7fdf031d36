import Foundation
import TomboloAuthentication
import TomboloHTTP

/// Makes the values that templates show from a content struct: its stored properties as a dictionary, nested structs
/// included.
///
/// A nil becomes false, so that the template doesn't fall back to a value of the same name from an enclosing section.
/// Each list also gets a Boolean: `hasEntries` for `entries`.
enum PanelValues {
    static func of(_ content: Any) -> [String: Any] {
        var values: [String: Any] = [:]
        for child in Mirror(reflecting: content).children {
            guard let name = child.label else { continue }
            let value = value(child.value)
            values[name] = value
            if let list = value as? [Any] {
                values["has\(name.prefix(1).uppercased())\(name.dropFirst())"] = !list.isEmpty
            }
        }
        return values
    }

    private static func value(_ value: Any) -> Any {
        if value is PanelHTML || value is String { return value }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { Self.value($0.value) } ?? false
        case .collection: return mirror.children.map { Self.value($0.value) }
        case .struct: return mirror.children.isEmpty ? value : of(value)
        default: return value
        }
    }
}

extension PanelRequest {
    /// The template values of a content struct, plus what forms need.
    func values(_ content: Any) -> [String: Any] {
        PanelValues.of(content).merging(["formToken": visit.token.formToken]) { own, _ in own }
    }

    /// The requested page number.
    /// - Throws: ``RequestFailure`` with status 400 for anything but a number from 1 to the limit.
    func pageNumber(limit: Int = 10_000) throws -> Int {
        guard let text = query("page") else { return 1 }
        guard let number = Int(text), (1...limit).contains(number) else {
            throw RequestFailure(.badRequest, "'page' must be a number from 1 to \(limit).")
        }
        return number
    }

    /// Microseconds since 1970.
    var now: Int64 { Int64((Date().timeIntervalSince1970 * 1_000_000).rounded()) }
}

extension PanelRequest {
    /// The form's fields by name; for a repeated name, the first one.
    var fields: [String: String] {
        Dictionary(form.content.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}
