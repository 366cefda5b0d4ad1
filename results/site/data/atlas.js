CT.data("atlas",{});
