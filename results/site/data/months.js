CT.data("months",{});
