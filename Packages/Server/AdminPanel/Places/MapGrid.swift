import Foundation

/// The square tiles of a map around a place.
///
/// The tiles use Web Mercator (EPSG:3857) and the numbering of tile servers. At zoom z, the world has 2^z columns,
/// eastwards from 180° W, and 2^z rows, southwards from 85.0511° N. Columns continue across the date line; rows end
/// near the poles. <https://wiki.openstreetmap.org/wiki/Slippy_map_tilenames>
struct MapGrid: Hashable, Sendable {
    static let columnCount = 3
    static let rowCount = 2
    /// Width and height of a tile, in pixels.
    static let tileSize = 256
    /// At the lowest zoom, the world has as many rows as a grid.
    static let zooms = 1...19
    /// The projection ends here, where the world becomes a square.
    private static let maximumLatitude = 85.051_128_779_806_59

    struct Tile: Hashable, Sendable {
        let zoom: Int
        let x: Int
        let y: Int
    }

    let zoom: Int
    /// The place's position, in tiles from the grid's upper left corner. It's within half a tile of the middle, except
    /// near the poles.
    let x: Double
    let y: Double
    /// The column at the grid's left side; it may be beyond the date line.
    private let firstColumn: Int
    private let firstRow: Int
    /// The width and height of the world, in tiles.
    private let size: Int

    /// - Parameter zoom: clamped to ``zooms``.
    init(around point: GeographicPoint, zoom: Int) {
        let zoom = min(max(zoom, Self.zooms.lowerBound), Self.zooms.upperBound)
        let size = 1 << zoom
        let latitude = min(max(point.latitude, -Self.maximumLatitude), Self.maximumLatitude) * .pi / 180
        let column = (point.longitude + 180) / 360 * Double(size)
        let row = min(max((1 - asinh(tan(latitude)) / .pi) / 2, 0), 1) * Double(size)
        func first(_ position: Double, of count: Int) -> Int { Int((position - Double(count - 1) / 2).rounded(.down)) }
        self.zoom = zoom
        self.size = size
        firstColumn = first(column, of: Self.columnCount)
        firstRow = min(max(first(row, of: Self.rowCount), 0), size - Self.rowCount)
        x = column - Double(firstColumn)
        y = row - Double(firstRow)
    }

    /// The tiles, row by row.
    var tiles: [Tile] {
        (0..<Self.rowCount).flatMap { row in
            (0..<Self.columnCount).map { column in
                let x = (firstColumn + column) % size
                return Tile(zoom: zoom, x: x < 0 ? x + size : x, y: firstRow + row)
            }
        }
    }

    /// The place at a point of the grid, in tiles from its upper left corner; nil unless both numbers are finite.
    func point(x: Double, y: Double) -> GeographicPoint? {
        guard x.isFinite, y.isFinite else { return nil }
        let column = (Double(firstColumn) + x) / Double(size)
        let row = min(max((Double(firstRow) + y) / Double(size), 0), 1)
        return GeographicPoint(
            latitude: atan(sinh(.pi * (1 - 2 * row))) * 180 / .pi,
            longitude: (column - column.rounded(.down)) * 360 - 180)
    }
}
