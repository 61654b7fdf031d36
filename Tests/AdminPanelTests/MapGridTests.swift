import Foundation
import Testing
import TomboloHTTP

@testable import AdminPanel

/// Points on the map, and the tiles around them.
@Suite struct MapGridTests {
    private static func point(_ latitude: Double, _ longitude: Double) throws -> GeographicPoint {
        try #require(GeographicPoint(latitude: latitude, longitude: longitude))
    }

    /// The names of tiles: <https://wiki.openstreetmap.org/wiki/Slippy_map_tilenames>
    @Test(
        "the tile at a point has the number that tile servers give it, and contains the point",
        arguments: [
            (52.52, 13.405, 15, 17604, 10746), (52.52, 13.405, 10, 550, 335), (-33.8688, 151.2093, 12, 3768, 2457),
            (40.7128, -74.006, 19, 154364, 197122), (-17.8, 179.99, 6, 63, 35), (0, 0, 1, 1, 1),
        ])
    func tiles(latitude: Double, longitude: Double, zoom: Int, x: Int, y: Int) throws {
        let grid = MapGrid(around: try Self.point(latitude, longitude), zoom: zoom)
        #expect(grid.tiles.count == MapGrid.columnCount * MapGrid.rowCount)
        let place = Int(grid.y) * MapGrid.columnCount + Int(grid.x)
        #expect(grid.tiles[place] == MapGrid.Tile(zoom: zoom, x: x, y: y))
        #expect((1.0...2).contains(grid.x) && (0.5...1.5).contains(grid.y), "near the middle")
    }

    @Test("columns continue across the date line, from both sides")
    func dateLine() throws {
        let (east, west) = (
            MapGrid(around: try Self.point(0, 180), zoom: 3), MapGrid(around: try Self.point(0, -180), zoom: 3)
        )
        #expect(east.tiles == west.tiles)
        #expect(east.tiles.map(\.x) == [7, 0, 1, 7, 0, 1] && east.tiles.map(\.y) == [3, 3, 3, 4, 4, 4])
        let behind = try #require(east.point(x: east.x + 0.5, y: east.y))
        #expect(behind.longitude == -157.5 && abs(behind.latitude) < 1e-9)
        let before = try #require(west.point(x: west.x - 0.5, y: west.y))
        #expect(before.longitude == 157.5)
    }

    @Test("rows end where the projection does, and the poles lie on its edges", arguments: MapGrid.zooms)
    func poles(zoom: Int) throws {
        let north = MapGrid(around: try Self.point(90, 0), zoom: zoom)
        let south = MapGrid(around: try Self.point(-90, 0), zoom: zoom)
        #expect(Set(north.tiles.map(\.y)) == [0, 1] && abs(north.y) < 1e-6)
        let last = (1 << zoom) - 1
        #expect(Set(south.tiles.map(\.y)) == [last - 1, last] && abs(south.y - 2) < 1e-6)
        let beyond = try #require(north.point(x: north.x, y: -3))
        #expect(abs(beyond.latitude - 85.0511) < 1e-4)
    }

    @Test("a position on the map converts back to the point shown there")
    func back() throws {
        for latitude in stride(from: -85.0, through: 85, by: 17) {
            for longitude in stride(from: -180.0, through: 179, by: 35.9) {
                for zoom in [1, 7, 19] {
                    let grid = MapGrid(around: try Self.point(latitude, longitude), zoom: zoom)
                    let found = try #require(grid.point(x: grid.x, y: grid.y))
                    #expect(abs(found.latitude - latitude) < 1e-7, "\(latitude), \(longitude), \(zoom)")
                    let apart = abs(found.longitude - longitude)
                    #expect(min(apart, 360 - apart) < 1e-7, "\(latitude), \(longitude), \(zoom)")
                }
            }
        }
        let grid = MapGrid(around: try Self.point(0, 0), zoom: 1)
        #expect(grid.point(x: .nan, y: 0) == nil && grid.point(x: 0, y: .infinity) == nil)
    }

    @Test("an unsupported zoom becomes the nearest supported one")
    func zooms() throws {
        let point = try Self.point(1, 1)
        #expect(MapGrid(around: point, zoom: -5).zoom == 1 && MapGrid(around: point, zoom: .max).zoom == 19)
    }

    @Test("a point is described in words with its hemispheres, and its degrees are valid")
    func words() throws {
        #expect(try Self.point(52.52, 13.405).words == "52.5200° N, 13.4050° E")
        #expect(try Self.point(-33.86882, -70.5).words == "33.8688° S, 70.5000° W")
        #expect(try Self.point(90, 180).words == "90.0000° N, 180.0000° E")
        for (latitude, longitude) in [(90.1, 0.0), (-90.1, 0), (0, 180.1), (0, -180.1), (.nan, 0), (0, .infinity)] {
            #expect(GeographicPoint(latitude: latitude, longitude: longitude) == nil)
        }
        #expect(try Self.point(1.23456789, 179.99999999).rounded == Self.point(1.234568, 180))
        #expect(
            try Self.point(52.52, -13.405).webAddress(zoom: 15)
                == "https://www.openstreetmap.org/?mlat=52.520000&mlon=-13.405000#map=15/52.520000/-13.405000")
    }

    @Test("a GeoJSON point has its longitude first")
    func geoJSON() throws {
        #expect(
            GeographicPoint(geoJSON: ["type": "Point", "coordinates": [.double(13.405), 52]])
                == (try Self.point(52, 13.405)))
        for json in [
            ["type": "Polygon", "coordinates": [1, 2]], ["type": "Point", "coordinates": [1]],
            ["type": "Point", "coordinates": [1, 91]], ["type": "Point", "coordinates": ["1", "2"]],
            ["type": "Point"], ["coordinates": [1, 2]], .null,
        ] as [JSON] {
            #expect(GeographicPoint(geoJSON: json) == nil, "\(json)")
        }
    }
}
