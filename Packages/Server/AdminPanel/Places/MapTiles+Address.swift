import AdminService

extension MapTiles {
    func address(of tile: MapGrid.Tile) -> String {
        template.replacing("{z}", with: String(tile.zoom)).replacing("{x}", with: String(tile.x))
            .replacing("{y}", with: String(tile.y))
    }
}
