import AdminService
import TomboloLocalization

/// A map made of tiles, with a marker. It needs no script.
struct MapPicture: Sendable {
    private static let template = PanelTemplate(PackageResources.map_mustache)
    /// The default zoom: a few streets around the place.
    static let usualZoom = 15

    let tiles: MapTiles
    /// The place with the marker; nil for a map of the world without one.
    let point: GeographicPoint?
    let grid: MapGrid

    init(of point: GeographicPoint?, zoom: Int?, tiles: MapTiles) {
        self.tiles = tiles
        self.point = point
        grid = MapGrid(around: point ?? Self.middle, zoom: zoom ?? (point == nil ? 1 : Self.usualZoom))
    }

    /// The middle of a map without a place: where the equator meets the Greenwich meridian.
    private static let middle = GeographicPoint(latitude: 0, longitude: 0)!

    /// The place at a point of the map, in tiles from its upper left corner.
    func place(x: Double, y: Double) -> GeographicPoint? { grid.point(x: x, y: y)?.rounded }

    /// - Parameter zoomPath: returns the address of the map at another zoom; nil for no links.
    func html(zoomPath: ((Int) -> String)? = nil) -> PanelHTML {
        let (width, height) = (MapGrid.columnCount * MapGrid.tileSize, MapGrid.rowCount * MapGrid.tileSize)
        let label = point.map { localized("Map of \($0.words)") } ?? localized("Map of the world")
        var values: [String: Any] = [
            "tiles": grid.tiles.map { ["address": tiles.address(of: $0)] }, "size": MapGrid.tileSize, "width": width,
            "height": height, "columns": MapGrid.columnCount, "rows": MapGrid.rowCount, "zoom": grid.zoom,
            "x": grid.x, "y": grid.y, "label": label,
            "attribution": tiles.attribution.text,
        ]
        if let link = tiles.attribution.link { values["licence"] = link }
        if let point {
            values["latitude"] = point.latitude
            values["longitude"] = point.longitude
            values["words"] = point.words
            values["marker"] = [
                "x": Int((grid.x * Double(MapGrid.tileSize)).rounded()),
                "y": Int((grid.y * Double(MapGrid.tileSize)).rounded()),
            ]
        }
        if let zoomPath {
            values["zooms"] = [(localized("Zoom in"), grid.zoom + 1), (localized("Zoom out"), grid.zoom - 1)]
                .filter { MapGrid.zooms.contains($0.1) }.map { ["title": $0.0, "path": zoomPath($0.1)] }
        }
        return Self.template.render(values)
    }
}
