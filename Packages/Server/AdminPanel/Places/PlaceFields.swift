import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// The two fields of an object, or of an embedded one, that are its place.
struct PlaceFields: Sendable {
    let latitude: ResourceField
    let longitude: ResourceField
    /// The name of the one that comes later.
    let last: String

    /// - Parameter fields: of one object, those that the caller may read.
    /// - Returns: nil if they have no place, or the caller may read only half of it.
    init?(_ fields: [ResourceField]) {
        let found = fields.filter { $0.coordinate != nil }
        guard let latitude = found.first(where: { $0.coordinate == .latitude }),
            let longitude = found.first(where: { $0.coordinate == .longitude }), let last = found.last
        else { return nil }
        self.latitude = latitude
        self.longitude = longitude
        self.last = last.name
    }

    /// For the template `place`, after the control of ``last``: the ids of both controls.
    /// - Parameter path: of the embedded object that has them; nil for the form's own.
    func controls(at path: String?) -> [String: Any] {
        func id(_ field: ResourceField) -> String { "f-\(path.map { "\($0)." } ?? "")\(field.name)" }
        return ["latitude": id(latitude), "longitude": id(longitude)]
    }
}
