import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization

extension RecordPage {
    /// The parameter for the zoom of the page's maps.
    private static let zoomParameter = "zoom"

    /// The record's places, for the template: in words, with a link to a map, and with a picture if there are tiles.
    func places(of record: RecordReader.Record) -> [[String: Any]] {
        let zoom = request.query(Self.zoomParameter).flatMap { Int($0) }
        return RecordPlace.all(of: view.fields(of: type), record.resource.attribute).map { place in
            let name = place.path.joined(separator: ".")
            let id = name.isEmpty ? "place" : "place-\(name)"
            var values: [String: Any] = [
                "id": id, "words": place.point.words,
                "title": name.isEmpty ? localized("Place") : localized("Place: \(ClassTitle.words(name))"),
                "link": place.point.webAddress(zoom: MapPicture.usualZoom),
            ]
            if let tiles = request.core.tiles {
                values["mapHTML"] = MapPicture(of: place.point, zoom: zoom, tiles: tiles).html {
                    "\(path)?\(Self.zoomParameter)=\($0)#\(id)"
                }
            }
            return values
        }
    }
}
