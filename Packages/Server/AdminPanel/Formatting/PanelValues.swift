import Foundation
import TomboloAuthentication
import TomboloHTTP

/// What templates show of a value: its stored properties as a dictionary, those of its parts as well.
///
/// What is nil becomes false, so that a template doesn't take a value of the same name from around it. For each list there
/// is a truth value besides: `hasEntries` for `entries`.
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
    /// What templates show of a value, with what forms need.
    func values(_ content: Any) -> [String: Any] {
        PanelValues.of(content).merging(["formToken": visit.token.formToken]) { own, _ in own }
    }

    /// The page that was asked for.
    /// - Throws: ``RequestFailure`` with status 400 for anything but a number from 1 up to a limit.
    func pageNumber(limit: Int = 10_000) throws -> Int {
        guard let text = query("page") else { return 1 }
        guard let number = Int(text), (1...limit).contains(number) else {
            throw RequestFailure(.badRequest, "'page' isn't a number from 1 to \(limit).")
        }
        return number
    }

    /// Microseconds since 1970.
    var now: Int64 { Int64((Date().timeIntervalSince1970 * 1_000_000).rounded()) }
}

extension PanelRequest {
    /// What the form says, by name; of several fields of a name the first.
    var fields: [String: String] {
        Dictionary(form.content.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}
