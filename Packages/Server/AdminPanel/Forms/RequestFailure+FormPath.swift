import TomboloHTTP

extension RequestFailure {
    /// The field of a resource that the failure is about, taken from its JSON pointer.
    var fieldName: String? {
        guard case .pointer(let place)? = source else { return nil }
        let parts = place.split(separator: "/")
        guard parts.count >= 3, parts[1] == "attributes" || parts[1] == "relationships" else { return nil }
        return String(parts[2]).replacing("~1", with: "/").replacing("~0", with: "~")
    }

    /// The place in a form that the failure is about, such as `holds.0.label`, taken from its JSON pointer.
    var formPath: String? {
        guard fieldName != nil, case .pointer(let place)? = source else { return nil }
        var parts = place.split(separator: "/").dropFirst(2)
            .map { $0.replacing("~1", with: "/").replacing("~0", with: "~") }
        // In relationships, the target is nested below these.
        if place.split(separator: "/")[1] == "relationships" {
            parts = parts.prefix(1) + parts.dropFirst().filter { !["data", "id", "type", "lid"].contains($0) }
        }
        return parts.joined(separator: ".")
    }
}
